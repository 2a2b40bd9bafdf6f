// The arrays of a replay state, as sections (docs/state-format.md).
#pragma once
#include "learner/replay/learner.h"
#include "learner/state/sections.h"

namespace bitreplay {

// head.consolidated_weights, head.past, memory.*; the tail's tensors follow.
enum Fixed : uint32_t { kWeights, kPast, kClasses, kCodes, kIds, kOrigins, kSeen, kSizes, kFixed };

struct Array {
  br_section section;
  const uint8_t* data;
};

inline uint32_t array_count(const ReplayLearner& l) { return kFixed + l.tensor_count; }
Array array_at(const ReplayLearner& l, uint32_t number);
// Without a class the memory has no codes, origins and ids.
inline bool is_there(uint64_t classes_in_memory, uint32_t number) {
  return classes_in_memory || (number != kCodes && number != kIds && number != kOrigins);
}

}  // namespace bitreplay
