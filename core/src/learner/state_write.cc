// The hash of a state and its bytes, as Python's state.py, statefile/content.py and modelfile/container.py make them.
#include <cstring>

#include "learner/state_file.h"
#include "learner/written.h"
#include "sums/check.h"

namespace bitreplay {
namespace {

void put_learned(const Out& out, const br_learner& l) {
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
  out.text(",\"same\":{}}");
}

void put_header(const Out& out, const br_learner& l, const char* digits) {
  Quoted quoted = {out};
  const Out inside = quoted.out();
  out.text(kBegin);
  out.bytes(digits, kDigits);
  out.text("\",\"format\":\"bitreplay-state\",\"learned\":\"");
  put_learned(inside, l);
  out.text("\",\"model\":\"");
  inside.bytes(l.model.model.bytes, l.model.model.size);
  out.text("\",\"settings\":\"");
  inside.bytes(l.settings, l.settings_size);
  out.text("\",\"version\":\"2\"},");
  put_descriptions(out, l.sums.classes, l.numbers, l.sums.bits);
}

size_t header_bytes(const br_learner& l) {
  char digits[kDigits] = {};
  size_t length = 0;
  put_header(to_count(&length), l, digits);
  return (length + 7) / 8 * 8;
}

void put_arrays(const Out& out, const br_learner& l) {
  const size_t width = l.sums.bits / 8, counts = 8 * size_t(l.sums.classes);
  if (l.sums.bits == 32) out.bytes(l.sums.counts, counts);
  out.bytes(l.sums.class_sums, width * l.sums.classes * l.numbers);
  if (l.sums.bits == 64) out.bytes(l.sums.counts, counts);
  out.bytes(l.sums.products, width * size_t(triangle(l.numbers)));
}

void put_file(const Out& out, const br_learner& l, const char* digits) {
  const uint64_t length = header_bytes(l);
  size_t used = 0;
  put_header(to_count(&used), l, digits);
  out.bytes(&length, 8);
  put_header(out, l, digits);
  for (; used < length; ++used) out.bytes(" ", 1);
  put_arrays(out, l);
}

void put_array_head(const Out& out, const char* name, uint32_t bits, uint64_t rows, uint64_t columns) {
  out.text(name);
  out.text(bits == 32 ? " <i4 (" : " <i8 (");
  out.number(int64_t(rows));
  out.text(columns ? ", " : ",");
  if (columns) out.number(int64_t(columns));
  out.text(")");
}

void describe(const Out& out, const char* name, uint32_t bits, uint64_t rows, uint64_t columns, uint64_t from, uint64_t to) {
  out.text("\"");
  out.text(name);
  out.text(bits == 32 ? "\":{\"dtype\":\"I32\",\"shape\":[" : "\":{\"dtype\":\"I64\",\"shape\":[");
  out.number(int64_t(rows));
  if (columns) out.text(",");
  if (columns) out.number(int64_t(columns));
  out.text("],\"data_offsets\":[");
  out.number(int64_t(from));
  out.text(",");
  out.number(int64_t(to));
  out.text("]}");
}

}  // namespace

Layout::Layout(uint64_t classes, uint64_t numbers, uint32_t bits) {
  const uint64_t rows = bits / 8 * classes * numbers;
  counts = bits == 32 ? 0 : rows;  // wide elements come first, then by name
  class_sums = bits == 32 ? 8 * classes : 0;
  products = 8 * classes + rows;
  end = products + bits / 8 * uint64_t(triangle(int64_t(numbers)));
}

void put_descriptions(const Out& out, uint64_t classes, uint64_t numbers, uint32_t bits) {
  const Layout at(classes, numbers, bits);
  const auto counts = [&] { describe(out, "sums.counts", 64, classes, 0, at.counts, at.counts + 8 * classes); };
  if (bits == 32) counts();
  if (bits == 32) out.text(",");
  describe(out, "sums.class_sums", bits, classes, numbers, at.class_sums, at.class_sums + bits / 8 * classes * numbers);
  out.text(",");
  if (bits == 64) counts();
  if (bits == 64) out.text(",");
  describe(out, "sums.products", bits, uint64_t(triangle(int64_t(numbers))), 0, at.products, at.end);
  out.text("}");
}

}  // namespace bitreplay

using namespace bitreplay;

int br_state_hash(br_learner* l, char hash[65]) {
  if (!l || !hash) return BR_BAD_ARGUMENT;
  Sha256 digest;
  const Out out = to_digest(&digest);
  const uint32_t classes = l->sums.classes;
  const size_t width = l->sums.bits / 8, numbers = l->numbers, entries = size_t(triangle(l->numbers));
  out.text("((");
  for (uint32_t row = 0; row < classes; ++row) {
    if (row) out.text(", ");
    put_repr(out, l->known.names.at(row));
  }
  out.text(classes == 1 ? ",), [('forgotten', " : "), [('forgotten', ");
  out.number(l->known.forgotten);
  out.text(")])");
  put_array_head(out, "sums.class_sums", l->sums.bits, classes, numbers);
  out.bytes(l->sums.class_sums, width * classes * numbers);
  put_array_head(out, "sums.counts", 64, classes, 0);
  out.bytes(l->sums.counts, 8 * size_t(classes));
  put_array_head(out, "sums.products", l->sums.bits, entries, 0);
  out.bytes(l->sums.products, width * entries);
  digest.finish_hex(hash);
  hash[64] = 0;
  return BR_OK;
}

size_t br_state_bytes(br_learner* l) {
  if (!l) return 0;
  return 8 + header_bytes(*l) + size_t(Layout(l->sums.classes, l->numbers, l->sums.bits).end);
}

int br_state_write(br_learner* l, br_write* write, void* context) {
  if (!l || !write) return BR_BAD_ARGUMENT;
  if (l->learning) return BR_BAD_ORDER;
  if (header_bytes(*l) + 8 > kMostHeader) return BR_FULL;
  char digits[kDigits];
  memset(digits, '0', sizeof digits);
  Sha256 digest;
  put_file(to_digest(&digest), *l, digits);
  digest.finish_hex(digits);
  Written written = {write, context, 0, false, 0, {}};
  put_file(written.out(), *l, digits);
  written.flush();
  return written.failed ? BR_STORAGE : BR_OK;
}
