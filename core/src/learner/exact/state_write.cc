// The hash of a state, its bytes as Python makes them (state.py, statefile/content.py, modelfile/container.py), saving.
#include <cstring>

#include "learner/exact/state_check.h"
#include "learner/state/output.h"
#include "learner/state/slots.h"
#include "sums/check.h"

namespace bitreplay {
namespace {

void put_learned(const Output& out, const br_learner& l) {
  out.text("{\"experiences\":");
  out.number(l.known.experiences);
  out.text(",\"forgotten\":");
  out.number(l.known.forgotten);
  out.text(",\"lineage\":\"");
  l.known.lineage.put(out);
  out.text("\",\"names\":[");
  for (uint32_t row = 0; row < l.known.names.count(); ++row) {
    if (row) out.text(",");
    put_json(out, l.known.names.at(row));
  }
  out.text("],\"parts\":");
  out.bytes(l.model.parts.bytes, l.model.parts.size);
  out.text(",\"same\":");
  put_same(out, l.sums.classes, l.keeps_digests);
  out.text("}");
}

void put_header(const Output& out, const br_learner& l, const char* digits) {
  put_texts(out, digits, l.model.model, {l.settings, l.settings_size},
            [&](const Output& inside) { put_learned(inside, l); });
  out.text(",");
  put_descriptions(out, shape_of(l));
}

size_t header_bytes(const br_learner& l) {
  char digits[kDigits] = {};
  size_t length = 0;
  put_header(to_count(&length), l, digits);
  return (length + 7) / 8 * 8;
}

const void* bytes_of(const br_learner& l, Layout::Array array) {
  switch (array) {
    case Layout::kValues: return l.digests.values;
    case Layout::kClassProducts: return l.class_products;
    case Layout::kClassSums: return l.sums.class_sums;
    case Layout::kProducts: return l.sums.products;
    default: return l.sums.counts;
  }
}

void put_arrays(const Output& out, const br_learner& l) {
  const Shape shape = shape_of(l);
  const Layout layout(shape);
  for (const bool wide : kWideFirst)
    for (int array = 0; array < Layout::kArrays; ++array)
      if (layout.stored[array] && is_wide(shape, Layout::Array(array)) == wide)
        out.bytes(bytes_of(l, Layout::Array(array)), size_t(layout.bytes[array]));
}

void put_file(const Output& out, const br_learner& l, const char* digits) {
  const uint64_t length = header_bytes(l);
  size_t used = 0;
  put_header(to_count(&used), l, digits);
  out.bytes(&length, 8);
  put_header(out, l, digits);
  for (; used < length; ++used) out.bytes(" ", 1);
  put_arrays(out, l);
}

void put_array_head(const Output& out, const Shape& shape, Layout::Array array) {
  uint64_t rows, columns;
  extent_of(shape, array, &rows, &columns);
  out.text(name_of(array));
  out.text(array == Layout::kValues ? " <u8 (" : is_wide(shape, array) ? " <i8 (" : " <i4 (");
  out.number(int64_t(rows));
  out.text(columns ? ", " : ",");
  if (columns) out.number(int64_t(columns));
  out.text(")");
}

SavedLearner saved_learner(br_learner* l) {
  return {l,
          l ? &l->past_is_gone : nullptr,
          [](void* own) { return br_state_bytes(static_cast<br_learner*>(own)); },
          [](void* own, br_write* write, void* to) { return br_state_write(static_cast<br_learner*>(own), write, to); },
          [](void* own, br_read* read, void* from, size_t size) {
            return read_state(static_cast<br_learner*>(own), {read, from, size}, false);
          },
          [](void* own, br_read* read, void* from, size_t size) {
            return br_state_verify(static_cast<br_learner*>(own), read, from, size);
          }};
}

}  // namespace
}  // namespace bitreplay

using namespace bitreplay;

int br_state_hash(br_learner* l, char hash[65]) {
  if (!l || !hash) return BR_BAD_ARGUMENT;
  Sha256 digest;
  const Output out = to_digest(&digest);
  const uint32_t classes = l->sums.classes;
  out.text("((");
  for (uint32_t row = 0; row < classes; ++row) {
    if (row) out.text(", ");
    put_repr(out, l->known.names.at(row));
  }
  out.text(classes == 1 ? ",), [('forgotten', " : "), [('forgotten', ");
  out.number(l->known.forgotten);
  out.text(")])");
  const Shape shape = shape_of(*l);
  const Layout layout(shape);
  for (int array = 0; array < Layout::kArrays; ++array) {
    if (!layout.there[array]) continue;
    put_array_head(out, shape, Layout::Array(array));
    out.bytes(bytes_of(*l, Layout::Array(array)), size_t(layout.bytes[array]));
  }
  digest.finish_hex(hash);
  hash[64] = 0;
  return BR_OK;
}

size_t br_state_bytes(br_learner* l) {
  if (!l) return 0;
  return 8 + header_bytes(*l) + size_t(Layout(shape_of(*l)).end);
}

int br_state_write(br_learner* l, br_write* write, void* context) {
  if (!l || !write) return BR_BAD_ARGUMENT;
  if (l->learning) return BR_BAD_ORDER;
  if (header_bytes(*l) + 8 > kMaxHeader) return BR_FULL;
  char digits[kDigits];
  memset(digits, '0', sizeof digits);
  Sha256 digest;
  put_file(to_digest(&digest), *l, digits);
  digest.finish_hex(digits);
  BufferedOutput written = {write, context, 0, false, 0, {}};
  put_file(written.out(), *l, digits);
  written.flush();
  return written.failed ? BR_STORAGE : BR_OK;
}

int br_learner_save(br_learner* l, const br_slots* slots) {
  return l && slots && l->learning ? BR_BAD_ORDER : save(saved_learner(l), slots);
}
int br_learner_load(br_learner* l, const br_slots* slots) { return load(saved_learner(l), slots); }
int br_learner_rollback(br_learner* l, const br_slots* slots) { return rollback(saved_learner(l), slots); }
