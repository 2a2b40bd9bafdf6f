// Stored latents: a reservoir for each class, the twin of parts/replay_memory.py. They lie as state files have them, so
// a class that grows moves those behind it.
#include <cstring>

#include "bitreplay_method.h"
#include "learner/replay/learner.h"

namespace bitreplay {
namespace {

// The place of a class in the table, or where it belongs.
uint32_t place_of(const Store& s, int32_t label) {
  uint32_t place = 0;
  while (place < s.count && s.classes[place] < label) ++place;
  return place;
}

uint32_t first_of(const Store& s, uint32_t place) {
  uint32_t first = 0;
  for (uint32_t k = 0; k < place; ++k) first += uint32_t(s.sizes[k]);
  return first;
}

template <class T>
void move(T* array, uint32_t from, uint32_t to, uint32_t count, size_t each = 1) {
  memmove(array + to * each, array + from * each, count * each * sizeof(T));
}

// Samples from `from` on lie from `to` on.
void move_samples(ReplayLearner* l, uint32_t from, uint32_t to) {
  Store& s = l->store;
  const uint32_t count = s.stored - from;
  move(s.codes, from, to, count, l->words);
  move(s.origins, from, to, count);
  move(s.ids, from, to, count);
  s.stored = to + count;
}

void move_classes(Store& s, uint32_t from, uint32_t to) {
  const uint32_t count = s.count - from;
  move(s.classes, from, to, count);
  move(s.seen, from, to, count);
  move(s.sizes, from, to, count);
  s.count = to + count;
}

}  // namespace

uint32_t max_stored(const ReplayLearner& l) { return l.options.classes * l.method.memory_per_class; }

int64_t stored_of(const ReplayLearner& l, int32_t label) {
  const uint32_t place = place_of(l.store, label);
  return place < l.store.count && l.store.classes[place] == label ? l.store.sizes[place] : 0;
}

int64_t seen_of(const ReplayLearner& l, int32_t label) {
  const uint32_t place = place_of(l.store, label);
  return place < l.store.count && l.store.classes[place] == label ? l.store.seen[place] : 0;
}

void offer(ReplayLearner* l, const uint64_t* code, int32_t label) {
  Store& s = l->store;
  const uint32_t place = place_of(s, label);
  if (place == s.count || s.classes[place] != label) {
    move_classes(s, place, place + 1);
    s.classes[place] = label;
    s.seen[place] = s.sizes[place] = 0;
  }
  const uint32_t held = uint32_t(s.sizes[place]), first = first_of(s, place);
  const int64_t slot =
      br_reservoir_slot(l->method.seed, uint32_t(label), uint64_t(s.seen[place]), held, l->method.memory_per_class);
  ++s.seen[place];
  const int64_t id = s.offered++;
  if (slot < 0) return;
  const uint32_t at = first + uint32_t(slot);
  if (slot == held) {
    move_samples(l, at, at + 1);
    ++s.sizes[place];
  }
  memcpy(s.codes + size_t(at) * l->words, code, l->words * sizeof *code);
  s.origins[at] = int32_t(l->experiences);
  s.ids[at] = id;
}

void drop_class(ReplayLearner* l, int32_t label) {
  Store& s = l->store;
  const uint32_t place = place_of(s, label);
  if (place == s.count || s.classes[place] != label) return;
  const uint32_t first = first_of(s, place);
  move_samples(l, first + uint32_t(s.sizes[place]), first);
  move_classes(s, place + 1, place);
}

bool drop_sample(ReplayLearner* l, int64_t sample) {
  Store& s = l->store;
  bool stored = false;
  for (uint32_t place = 0, first = 0; place < s.count; first += uint32_t(s.sizes[place++]))
    for (uint32_t at = first; at < first + uint32_t(s.sizes[place]); ++at) {
      if (s.ids[at] != sample) continue;
      move_samples(l, at + 1, at);
      --s.sizes[place];
      stored = true;
    }
  return stored;
}

int32_t label_of(const ReplayLearner& l, uint32_t at) {
  uint32_t place = 0;
  while (at >= uint32_t(l.store.sizes[place])) at -= uint32_t(l.store.sizes[place++]);
  return l.store.classes[place];
}

}  // namespace bitreplay
