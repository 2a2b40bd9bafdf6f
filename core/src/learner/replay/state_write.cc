// The sections of a replay state.
#include "learner/replay/state_arrays.h"

namespace bitreplay {

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

}  // namespace bitreplay
