// Binary convolution pixel by pixel, for the paths that count the differing bits of 8 outputs side by side.
//
// Counts start at 0; run(x, w, length) adds those of `length` words of pixels and of interleaved weights, and
// store(found) writes the 8 sums, 32-byte aligned.
#pragma once
#include "kernels/binary_conv.h"
#include "kernels/taps.h"

namespace bitreplay {
namespace {

template <class Counts>
void binary_conv_by_pixel(const BinaryConvArgs& a) {
  const int64_t block_words = a.kernel * a.kernel * a.words * kInterleaved, pixels = a.out_h * a.out_w;
  const int64_t blocks = (a.outputs + kInterleaved - 1) / kInterleaved;
  const uint64_t* ones = a.w + blocks * block_words;
  for (int64_t block = 0; block < blocks; ++block) {
    const uint64_t* w = a.w + block * block_words;
    for (int64_t p = 0; p < a.samples * pixels; ++p) {
      const int64_t out_row = p % pixels / a.out_w, out_column = p % a.out_w;
      const TapRange rows = taps_inside(out_row, a.stride, a.pad, a.kernel, a.height);
      const TapRange columns = taps_inside(out_column, a.stride, a.pad, a.kernel, a.width);
      const uint64_t* x = a.x + p / pixels * a.height * a.width * a.words;
      const int64_t side_by_side = columns.last - columns.first;
      Counts counts;
      for (int64_t row = rows.first; row < rows.last; ++row) {
        const int64_t y = out_row * a.stride + row - a.pad, left = out_column * a.stride + columns.first - a.pad;
        counts.run(x + (y * a.width + left) * a.words, w + (row * a.kernel + columns.first) * a.words * kInterleaved,
                   side_by_side * a.words);
      }
      int64_t taps = (rows.last - rows.first) * side_by_side;
      if (a.padding && taps < a.kernel * a.kernel) {
        for (int64_t tap = 0; tap < a.kernel * a.kernel; ++tap) {
          const int64_t r = tap / a.kernel, c = tap % a.kernel;
          if (rows.first <= r && r < rows.last && columns.first <= c && c < columns.last) continue;
          counts.run(ones, w + tap * a.words * kInterleaved, a.words);
        }
        taps = a.kernel * a.kernel;
      }
      alignas(32) int64_t found[kInterleaved];
      counts.store(found);
      int16_t* sums = a.sums + p * a.outputs + block * kInterleaved;
      const int64_t left = a.outputs - block * kInterleaved, lanes = left < kInterleaved ? left : kInterleaved;
      for (int64_t lane = 0; lane < lanes; ++lane) sums[lane] = int16_t(taps * a.channels - 2 * found[lane]);
    }
  }
}

}  // namespace
}  // namespace bitreplay
