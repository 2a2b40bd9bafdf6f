// Eight outputs as four vectors of two words: eor with the pixel's word, cnt, bytes added up before they overflow.
// The walk over pixels and taps is that of binary_conv_avx2.cc, which says why each has its own.
#include <arm_neon.h>

#include "kernels/binary_conv/binary_conv.h"
#include "arithmetic/sliding_window.h"

namespace bitreplay {
namespace {

constexpr int64_t kWordsBeforeSum = 31;  // 31 * 8 < 256
constexpr int kVectors = 4;

struct Counts {
  uint64x2_t sums[kVectors] = {vdupq_n_u64(0), vdupq_n_u64(0), vdupq_n_u64(0), vdupq_n_u64(0)};

  void run(const uint64_t* x, const uint64_t* w, int64_t length) {
    for (int64_t start = 0; start < length; start += kWordsBeforeSum) {
      const int64_t end = length - start < kWordsBeforeSum ? length : start + kWordsBeforeSum;
      uint8x16_t bytes[kVectors] = {vdupq_n_u8(0), vdupq_n_u8(0), vdupq_n_u8(0), vdupq_n_u8(0)};
      for (int64_t i = start; i < end; ++i) {
        const uint64x2_t pixel = vdupq_n_u64(x[i]);
        for (int v = 0; v < kVectors; ++v) {
          const uint64x2_t different = veorq_u64(pixel, vld1q_u64(w + kInterleaved * i + 2 * v));
          bytes[v] = vaddq_u8(bytes[v], vcntq_u8(vreinterpretq_u8_u64(different)));
        }
      }
      for (int v = 0; v < kVectors; ++v) sums[v] = vpadalq_u32(sums[v], vpaddlq_u16(vpaddlq_u8(bytes[v])));
    }
  }
};

}  // namespace

void binary_conv_neon(const BinaryConvArgs& a) {
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
      uint64_t found[kInterleaved];
      for (int v = 0; v < kVectors; ++v) vst1q_u64(found + 2 * v, counts.sums[v]);
      int16_t* sums = a.sums + p * a.outputs + block * kInterleaved;
      const int64_t left = a.outputs - block * kInterleaved, lanes = left < kInterleaved ? left : kInterleaved;
      for (int64_t lane = 0; lane < lanes; ++lane) sums[lane] = int16_t(taps * a.channels - 2 * int64_t(found[lane]));
    }
  }
}

}  // namespace bitreplay
