// The sections of a state.
#include "learner/exact/state_check.h"

namespace bitreplay {
namespace {

const void* content_of(const ExactLearner& l, int array) {
  switch (array) {
    case kValues: return l.digests.values;
    case kClassProducts: return l.sums.class_products;
    case kClassSums: return l.sums.class_sums;
    case kProducts: return l.sums.products;
    default: return l.sums.counts;
  }
}

}  // namespace

void put_learned(SectionOutput out, const ExactLearner& l) {
  br_name name;
  out.classes(l.sums.classes, [&](uint32_t row) { return name = l.known.names.at(row), &name; });
  out.integer("learned/counters/", "forgotten", l.known.forgotten);
  const Shape shape = shape_of(l);
  for (int array = 0; array < kArrays; ++array)
    if (shape.has(array)) out.put(shape.section(array), content_of(l, array));
}

void put_state(SectionOutput out, const ExactLearner& l) {
  const Lineage& lineage = l.known.lineage;
  put_learned(out, l);
  out.sections(l.model.model);
  out.integer("notes/", "experiences", l.known.experiences);
  out.put(section_of("notes/", "lineage.merged", BR_SECTION_UINT64, 1, lineage.merged_count()), lineage.merged());
  out.put(section_of("notes/", "lineage.since", BR_SECTION_UINT64, 1, lineage.own_count()), lineage.own());
  out.sections({l.settings, l.settings_size});
  out.sections(l.model.versions);
}

}  // namespace bitreplay
