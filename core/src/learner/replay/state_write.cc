// The hash of a replay state and its bytes, as Python's state.py, statefile/content.py and modelfile/container.py make
// them.
#include <cstring>

#include "learner/replay/state_arrays.h"
#include "learner/state/header.h"
#include "learner/state/output.h"
#include "learner/state/slots.h"

namespace bitreplay {
namespace {

void put_same(const Output& out, const br_replay& l) {
  bool more = false;
  out.text("{");
  for (uint32_t i = 0; i < array_count(l); ++i) {
    if (l.same[i] == kStored) continue;
    out.text(more ? ",\"" : "\"");
    put_name(out, array_at(l, i));
    out.text("\":\"");
    put_name(out, array_at(l, l.same[i]));
    out.text("\"");
    more = true;
  }
  out.text("}");
}

void put_learned(const Output& out, const br_replay& l) {
  out.text("{\"draws\":");
  out.number(l.store.draws);
  out.text(",\"experiences\":");
  out.number(l.experiences);
  out.text(",\"names\":[");
  for (uint32_t number = 0; number < l.names.end(); ++number) {
    if (number) out.text(",");
    if (l.names.has(number)) put_json(out, l.names.at(number));
    else out.text("null");
  }
  out.text("],\"offered\":");
  out.number(l.store.offered);
  out.text(",\"parts\":");
  out.bytes(l.model.parts.bytes, l.model.parts.size);
  out.text(",\"same\":");
  put_same(out, l);
  out.text(",\"steps\":");
  out.number(l.steps);
  out.text("}");
}

// Calls with each array that a file stores, in its order: wide elements first, then by name.
template <class Each>
void for_each_stored(const br_replay& l, Each each) {
  for (uint32_t width = 8; width; width /= 2)
    for (uint32_t i = 0; i < array_count(l); ++i) {
      const Array array = array_at(l, i);
      if (array.width() == width && l.same[i] == kStored && is_there(l, i)) each(array);
    }
}

void put_header(const Output& out, const br_replay& l, const char* digits) {
  put_texts(out, digits, l.model.model, {l.settings, l.settings_size},
            [&](const Output& inside) { put_learned(inside, l); });
  uint64_t end = 0;
  for_each_stored(l, [&](const Array& array) {
    out.text(",");
    put_description(out, array, end);
    end += array.bytes();
  });
  out.text("}");
}

size_t header_bytes(const br_replay& l, size_t* used) {
  char digits[kDigits] = {};
  *used = 0;
  put_header(to_count(used), l, digits);
  return (*used + 7) / 8 * 8;
}

void put_file(const Output& out, const br_replay& l, const char* digits) {
  size_t used;
  const uint64_t length = header_bytes(l, &used);
  out.bytes(&length, 8);
  put_header(out, l, digits);
  for (; used < length; ++used) out.bytes(" ", 1);
  for_each_stored(l, [&](const Array& array) { out.bytes(array.data, size_t(array.bytes())); });
}

void put_counter(const Output& out, const char* name, int64_t value) {
  out.text(name);
  out.number(value);
}

SavedLearner saved_learner(br_replay* l) {
  return {is_open(l) ? l : nullptr,
          l ? &l->past_is_gone : nullptr,
          [](void* own) { return br_replay_bytes(static_cast<br_replay*>(own)); },
          [](void* own, br_write* write, void* to) { return br_replay_write(static_cast<br_replay*>(own), write, to); },
          [](void* own, br_read* read, void* from, size_t size) {
            return br_replay_read(static_cast<br_replay*>(own), read, from, size);
          },
          [](void* own, br_read* read, void* from, size_t size) {
            return br_replay_verify(static_cast<br_replay*>(own), read, from, size);
          }};
}

}  // namespace
}  // namespace bitreplay

using namespace bitreplay;

int br_replay_hash(br_replay* l, char hash[65]) {
  if (!is_open(l) || !hash) return BR_BAD_ARGUMENT;
  if (l->phase != Phase::idle) return BR_BAD_ORDER;
  Sha256 digest;
  const Output out = to_digest(&digest);
  out.text("((");
  for (uint32_t number = 0; number < l->names.end(); ++number) {
    if (number) out.text(", ");
    if (l->names.has(number)) put_repr(out, l->names.at(number));
    else out.text("None");
  }
  if (l->names.end() == 1) out.text(",");
  put_counter(out, "), [('draws', ", l->store.draws);
  put_counter(out, "), ('experiences', ", l->experiences);
  put_counter(out, "), ('offered', ", l->store.offered);
  put_counter(out, "), ('steps', ", l->steps);
  out.text(")])");
  for (uint32_t i = 0; i < array_count(*l); ++i) {
    if (!is_there(*l, i)) continue;
    const Array array = array_at(*l, i);
    put_name(out, array);
    out.text(" ");
    out.text(type_in_hashes(array.dtype));
    for (uint32_t axis = 0; axis < array.dimensions; ++axis) {
      out.text(axis ? ", " : " (");
      out.number(int64_t(array.shape[axis]));
    }
    out.text(array.dimensions == 1 ? ",)" : ")");
    out.bytes(array.data, size_t(array.bytes()));
  }
  digest.finish_hex(hash);
  hash[64] = 0;
  return BR_OK;
}

size_t br_replay_bytes(br_replay* l) {
  if (!is_open(l)) return 0;
  find_same(*l, l->same);
  size_t used;
  uint64_t size = 8 + header_bytes(*l, &used);
  for_each_stored(*l, [&](const Array& array) { size += array.bytes(); });
  return size_t(size);
}

int br_replay_write(br_replay* l, br_write* write, void* context) {
  if (!is_open(l) || !write) return BR_BAD_ARGUMENT;
  if (l->phase != Phase::idle) return BR_BAD_ORDER;
  find_same(*l, l->same);
  size_t used;
  if (header_bytes(*l, &used) + 8 > kMaxHeader) return BR_FULL;
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

int br_replay_save(br_replay* l, const br_slots* slots) {
  return l && slots && l->phase != Phase::idle ? BR_BAD_ORDER : save(saved_learner(l), slots);
}
int br_replay_load(br_replay* l, const br_slots* slots) { return load(saved_learner(l), slots); }
int br_replay_rollback(br_replay* l, const br_slots* slots) { return rollback(saved_learner(l), slots); }
