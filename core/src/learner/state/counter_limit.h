// The limit of a state's counters: parts/part.py. A change that would reach it is refused.
#pragma once
#include <cstdint>

namespace bitreplay {

constexpr int64_t kMaxCounted = int64_t(1) << 62;

}  // namespace bitreplay
