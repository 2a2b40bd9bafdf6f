#include "learner/replay/state_arrays.h"

#include "machine/program.h"

namespace bitreplay {
namespace {

Array array(const char* name, uint32_t type, const void* data, uint32_t rank, uint64_t first, uint64_t second = 1) {
  Array made = {section_of("learned/parts/", name, type, rank, first, second), static_cast<const uint8_t*>(data)};
  measure(&made.section);
  return made;
}

}  // namespace

Array array_at(const ReplayLearner& l, uint32_t number) {
  const Store& s = l.store;
  switch (number) {
    case kWeights:
      return array("head.consolidated_weights", BR_SECTION_INT32, l.consolidated, 2, l.at.room, l.at.columns);
    case kPast: return array("head.past", BR_SECTION_INT64, l.past, 1, l.at.room);
    case kClasses: return array("memory.classes", BR_SECTION_INT32, s.classes, 1, s.count);
    case kCodes: {
      Array codes = array("memory.codes", BR_SECTION_UINT64, s.codes, 4, s.stored);
      for (uint32_t axis = 0; axis < 3; ++axis) codes.section.shape[1 + axis] = l.code_shape[axis];
      measure(&codes.section);
      return codes;
    }
    case kIds: return array("memory.ids", BR_SECTION_INT64, s.ids, 1, s.stored);
    case kOrigins: return array("memory.origins", BR_SECTION_INT32, s.origins, 1, s.stored);
    case kSeen: return array("memory.seen", BR_SECTION_INT64, s.seen, 1, s.count);
    case kSizes: return array("memory.sizes", BR_SECTION_INT32, s.sizes, 1, s.count);
    default: break;
  }
  const Tensor& t = l.tail->tensors[l.tensors[number - kFixed]];
  Array tensor = {section_of("learned/parts/tail.", t.name, t.info.dtype, t.info.dimensions),
                  l.parameters + t.info.offset};
  for (uint32_t axis = 0; axis < t.info.dimensions; ++axis) tensor.section.shape[axis] = t.info.shape[axis];
  measure(&tensor.section);
  return tensor;
}

}  // namespace bitreplay
