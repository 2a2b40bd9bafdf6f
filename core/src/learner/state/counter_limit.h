// How far a state's counters go: parts/part.py, MOST. A change that would reach it is refused.
#pragma once
#include <cstdint>

namespace bitreplay {

constexpr int64_t kMaxCounted = int64_t(1) << 62;

}  // namespace bitreplay
