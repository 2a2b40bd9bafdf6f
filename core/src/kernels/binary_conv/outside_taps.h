// What taps outside the map add to a sum where +1 is read there (padding 1): channels - 2 popcount(+1 xor w), the same
// at all places, so it is counted when the weights are packed.
//
// Layout: [outputs / kOutsideOutputs][kernel * kernel][kOutsideOutputs] int16; 0 behind the last output.
#pragma once
#include "arithmetic/packing.h"
#include "arithmetic/sliding_window.h"
#include "kernels/binary_conv/binary_conv.h"

namespace bitreplay {

constexpr int64_t kOutsideOutputs = 32;

static inline uint64_t outside_bytes(const BinaryConvArgs& a) {
  const int64_t groups = (a.outputs + kOutsideOutputs - 1) / kOutsideOutputs;
  return a.padding ? uint64_t(groups * a.kernel * a.kernel * kOutsideOutputs) * sizeof(int16_t) : 0;
}

// `a.w` are the weights as they are.
static inline void pack_outside(const BinaryConvArgs& a, uint8_t* to) {
  const int64_t taps = a.kernel * a.kernel;
  int16_t* sum = reinterpret_cast<int16_t*>(to);
  for (int64_t first = 0; a.padding && first < a.outputs; first += kOutsideOutputs) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      for (int64_t output = first; output < first + kOutsideOutputs; ++output, ++sum) {
        *sum = 0;
        if (output >= a.outputs) continue;
        const uint64_t* w = a.w + (output * taps + tap) * a.words;
        int64_t ones = 0;
        for (int64_t word = 0; word < a.words; ++word) ones += __builtin_popcountll(w[word]);
        *sum = int16_t(2 * ones - a.channels);  // bits behind the last channel are 0
      }
    }
  }
}

// Calls add(sums of kOutsideOutputs outputs from `first` on) for each tap outside, given those inside.
template <class Add>
static inline void over_outside(const BinaryConvArgs& a, const int16_t* outside, int64_t first, TapRange rows,
                                TapRange columns, Add add) {
  outside += first * a.kernel * a.kernel;
  for (int64_t r = 0; r < a.kernel; ++r)
    for (int64_t c = 0; c < a.kernel; ++c, outside += kOutsideOutputs)
      if (r < rows.first || r >= rows.last || c < columns.first || c >= columns.last) add(outside);
}

}  // namespace bitreplay
