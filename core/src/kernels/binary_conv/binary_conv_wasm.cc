// Eight outputs as four vectors of two words: xor with the pixel's word, i8x16.popcnt, bytes added up before they
// overflow. The walk over pixels and taps is that of binary_conv_neon.cc, which says why each has its own.
#include <wasm_simd128.h>

#include "arithmetic/sliding_window.h"
#include "kernels/binary_conv/binary_conv.h"

namespace bitreplay {
namespace {

constexpr int64_t kWordsBeforeSum = 31;  // 31 * 8 < 256
constexpr int kVectors = 4;

// The bits that differ are counted in bytes; eight bytes are a word, and its count stays below 2^16.
struct Counts {
  v128_t sums[kVectors];  // eight counts of 16 bits, four of them of one word

  Counts() {
    for (v128_t& sum : sums) sum = wasm_i16x8_const_splat(0);
  }

  void run(const uint64_t* x, const uint64_t* w, int64_t length) {
    for (int64_t start = 0; start < length; start += kWordsBeforeSum) {
      const int64_t end = length - start < kWordsBeforeSum ? length : start + kWordsBeforeSum;
      v128_t b0 = wasm_i8x16_const_splat(0), b1 = b0, b2 = b0, b3 = b0;
      const uint64_t* weights = w + kInterleaved * start;
      for (int64_t i = start; i < end; ++i, weights += kInterleaved) {
        const v128_t pixel = wasm_v128_load64_splat(x + i);
        b0 = wasm_i8x16_add(b0, wasm_i8x16_popcnt(wasm_v128_xor(pixel, wasm_v128_load(weights))));
        b1 = wasm_i8x16_add(b1, wasm_i8x16_popcnt(wasm_v128_xor(pixel, wasm_v128_load(weights + 2))));
        b2 = wasm_i8x16_add(b2, wasm_i8x16_popcnt(wasm_v128_xor(pixel, wasm_v128_load(weights + 4))));
        b3 = wasm_i8x16_add(b3, wasm_i8x16_popcnt(wasm_v128_xor(pixel, wasm_v128_load(weights + 6))));
      }
      const v128_t bytes[kVectors] = {b0, b1, b2, b3};
      for (int v = 0; v < kVectors; ++v) sums[v] = wasm_i16x8_add(sums[v], wasm_u16x8_extadd_pairwise_u8x16(bytes[v]));
    }
  }

  // The counts of the eight outputs, as int16.
  v128_t total() const {
    v128_t words[kVectors];  // two pairs of 32-bit halves: outputs 2 v and 2 v + 1
    for (int v = 0; v < kVectors; ++v) words[v] = wasm_u32x4_extadd_pairwise_u16x8(sums[v]);
    v128_t fours[2];
    for (int k = 0; k < 2; ++k)
      fours[k] = wasm_i32x4_add(wasm_i32x4_shuffle(words[2 * k], words[2 * k + 1], 0, 2, 4, 6),
                                wasm_i32x4_shuffle(words[2 * k], words[2 * k + 1], 1, 3, 5, 7));
    return wasm_i16x8_narrow_i32x4(fours[0], fours[1]);
  }
};

}  // namespace

void binary_conv_wasm(const BinaryConvArgs& a) {
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
      const v128_t differences = counts.total();
      const v128_t signs =
          wasm_i16x8_sub(wasm_i16x8_splat(int16_t(taps * a.channels)), wasm_i16x8_add(differences, differences));
      int16_t* sums = a.sums + p * a.outputs + block * kInterleaved;
      const int64_t left = a.outputs - block * kInterleaved;
      if (left >= kInterleaved) {
        wasm_v128_store(sums, signs);
      } else {
        int16_t each[kInterleaved];
        wasm_v128_store(each, signs);
        for (int64_t lane = 0; lane < left; ++lane) sums[lane] = each[lane];
      }
    }
  }
}

}  // namespace bitreplay
