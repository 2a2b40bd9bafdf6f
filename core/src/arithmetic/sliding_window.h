// Geometry of a convolution: which taps of an output pixel lie inside the map.
#pragma once
#include <cstdint>

namespace bitreplay {

// Taps first <= t < last of output position `out` read input out * stride + t - pad inside [0, size).
struct TapRange {
  int64_t first, last;
};

static inline TapRange taps_inside(int64_t out, int64_t stride, int64_t pad, int64_t kernel, int64_t size) {
  int64_t start = out * stride - pad;
  int64_t first = start < 0 ? -start : 0, last = size - start;
  if (first > kernel) first = kernel;
  if (last > kernel) last = kernel;
  return {first, last < first ? first : last};
}

}  // namespace bitreplay
