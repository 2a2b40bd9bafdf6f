// Loops over maps (height, width, channels) that the layers with windows share.
#pragma once
#include "arithmetic/elements.h"
#include "arithmetic/fixedpoint.h"

namespace bitreplay {

// Elements at .. at + count of a map, cut where a pixel ends: run(pixel, first channel, channels, offset in the tile).
template <class Run>
static inline void over_pixels(int64_t at, int64_t count, int64_t channels, Run run) {
  for (int64_t done = 0; done < count;) {
    const int64_t channel = (at + done) % channels, lanes = min_of(channels - channel, count - done);
    run((at + done) / channels, channel, lanes, done);
    done += lanes;
  }
}

// The outputs that read input position `at`: run(output, tap) for each tap that reaches it.
template <class Run>
static inline void over_readers(int64_t at, int64_t kernel, int64_t stride, int64_t pad, int64_t out, Run run) {
  for (int64_t tap = 0; tap < kernel; ++tap) {
    const int64_t reach = at + pad - tap;
    if (reach >= 0 && reach % stride == 0 && reach / stride < out) run(reach / stride, tap);
  }
}

}  // namespace bitreplay
