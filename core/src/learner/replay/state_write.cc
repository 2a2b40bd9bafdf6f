// The hash of a replay state, its file, and saving it in two slots.
#include "learner/replay/state_arrays.h"
#include "learner/state/slots.h"

namespace bitreplay {
namespace {

void put_learned(SectionOutput out, const ReplayLearner& l) {
  br_name name;
  out.classes(l.names.end(), [&](uint32_t number) {
    name = l.names.at(number);
    return l.names.has(number) ? &name : nullptr;
  });
  out.integer("learned/counters/", "draws", l.store.draws);
  out.integer("learned/counters/", "experiences", l.experiences);
  out.integer("learned/counters/", "offered", l.store.offered);
  out.integer("learned/counters/", "steps", l.steps);
  for (uint32_t i = 0; i < array_count(l); ++i) {
    const Array array = array_at(l, i);
    if (is_there(l.store.count, i)) out.put(array.section, array.data);
  }
}

void put_state(SectionOutput out, const ReplayLearner& l) {
  put_learned(out, l);
  out.sections(l.model.model);
  out.sections({l.settings, l.settings_size});
  out.sections(l.model.versions);
}

SavedLearner saved_learner(ReplayLearner* l) {
  return {
      is_open(l) ? l : nullptr,
      l ? &l->past_is_gone : nullptr,
      [](void* own) { return learner_state_bytes(static_cast<ReplayLearner*>(own)); },
      [](void* own, br_write* write, void* to) { return learner_write(static_cast<ReplayLearner*>(own), write, to); },
      [](void* own, br_read* read, void* from, size_t size) {
        return learner_read(static_cast<ReplayLearner*>(own), read, from, size);
      },
      [](void* own, br_read* read, void* from, size_t size) {
        return learner_verify(static_cast<ReplayLearner*>(own), read, from, size);
      }};
}

}  // namespace

int learner_hash(ReplayLearner* l, char hash[65]) {
  if (!is_open(l) || !hash) return BR_BAD_ARGUMENT;
  if (l->phase != Phase::idle) return BR_BAD_ORDER;
  hash_of([&](SectionOutput out) { put_learned(out, *l); }, hash);
  return BR_OK;
}

size_t learner_state_bytes(ReplayLearner* l) {
  return is_open(l) ? file_bytes([&](SectionOutput out) { put_state(out, *l); }) : 0;
}

int learner_write(ReplayLearner* l, br_write* write, void* context) {
  if (!is_open(l) || !write) return BR_BAD_ARGUMENT;
  if (l->phase != Phase::idle) return BR_BAD_ORDER;
  return write_file(write, context, [&](SectionOutput out) { put_state(out, *l); });
}

int learner_save(ReplayLearner* l, const br_slots* slots) {
  return l && slots && l->phase != Phase::idle ? BR_BAD_ORDER : save(saved_learner(l), slots);
}
int learner_load(ReplayLearner* l, const br_slots* slots) { return load(saved_learner(l), slots); }
int learner_rollback(ReplayLearner* l, const br_slots* slots) { return rollback(saved_learner(l), slots); }

}  // namespace bitreplay
