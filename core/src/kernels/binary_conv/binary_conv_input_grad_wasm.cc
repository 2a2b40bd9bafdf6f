// Tables of 16 bytes looked up by i8x16.swizzle, 16 channels at a time (nibble_tables.h).
#include <wasm_simd128.h>

#include "kernels/binary_conv/nibble_tables.h"

namespace bitreplay {
namespace {

// Sums of 16 bits: 64 blocks of at most 4 * 63 fit.
template <int kCount>
struct LookUp {
  static inline void run(const uint8_t* tables, const uint8_t* weights, int64_t blocks, uint32_t correction,
                         uint32_t* to) {
    for (int half = 0; half < 2; ++half) half_of(tables, weights + 16 * half, blocks, correction, to + 16 * half);
  }

  static inline void half_of(const uint8_t* tables, const uint8_t* weights, int64_t blocks, uint32_t correction,
                             uint32_t* to) {
    const v128_t low = wasm_i8x16_const_splat(15), bytes = wasm_i16x8_const_splat(255);
    v128_t even[kCount], odd[kCount];
    for (int d = 0; d < kCount; ++d) even[d] = odd[d] = wasm_i16x8_const_splat(0);
    for (int64_t block = 0; block < blocks; ++block, weights += kNibbleBlockBytes, tables += 64 * kCount) {
      const v128_t first = wasm_v128_load(weights), second = wasm_v128_load(weights + 32);
      const v128_t nibbles[4] = {wasm_v128_and(first, low), wasm_v128_and(wasm_u16x8_shr(first, 4), low),
                                 wasm_v128_and(second, low), wasm_v128_and(wasm_u16x8_shr(second, 4), low)};
      for (int d = 0; d < kCount; ++d) {
        const uint8_t* four = tables + 64 * d;
        v128_t sum = wasm_i8x16_swizzle(wasm_v128_load(four), nibbles[0]);
        for (int n = 1; n < 4; ++n)
          sum = wasm_i8x16_add(sum, wasm_i8x16_swizzle(wasm_v128_load(four + 16 * n), nibbles[n]));
        even[d] = wasm_i16x8_add(even[d], wasm_v128_and(sum, bytes));
        odd[d] = wasm_i16x8_add(odd[d], wasm_u16x8_shr(sum, 8));
      }
    }
    v128_t sums[4];
    for (v128_t& sum : sums) sum = wasm_i32x4_const_splat(0);
    for (int d = kCount - 1; d >= 0; --d) {
      const v128_t front = wasm_i16x8_shuffle(even[d], odd[d], 0, 8, 1, 9, 2, 10, 3, 11);
      const v128_t back = wasm_i16x8_shuffle(even[d], odd[d], 4, 12, 5, 13, 6, 14, 7, 15);
      const v128_t digits[4] = {wasm_u32x4_extend_low_u16x8(front), wasm_u32x4_extend_high_u16x8(front),
                                wasm_u32x4_extend_low_u16x8(back), wasm_u32x4_extend_high_u16x8(back)};
      for (int k = 0; k < 4; ++k) sums[k] = wasm_i32x4_add(wasm_i32x4_shl(sums[k], 6), digits[k]);
    }
    for (int k = 0; k < 4; ++k) {
      const v128_t change = wasm_i32x4_sub(wasm_i32x4_add(sums[k], sums[k]), wasm_i32x4_splat(int32_t(correction)));
      wasm_v128_store(to + 4 * k, wasm_i32x4_add(wasm_v128_load(to + 4 * k), change));
    }
  }
};

// Entry m is the bias and the sum of the gradients whose bits m has; digits of 16 sums are packed to bytes.
template <int kCount>
struct Build {
  static inline void run(const int16_t* g, int64_t nibbles, int32_t bias, uint8_t* tables) {
    const v128_t digit = wasm_i32x4_const_splat(63);
    for (int64_t nibble = 0; nibble < nibbles; ++nibble, g += 4) {
      const v128_t first = wasm_i32x4_make(bias, bias + g[0], bias + g[1], bias + g[0] + g[1]);
      const v128_t third = wasm_i32x4_splat(g[2]), fourth = wasm_i32x4_splat(g[3]),
                   second = wasm_i32x4_add(first, third);
      const v128_t sums[4] = {first, second, wasm_i32x4_add(first, fourth), wasm_i32x4_add(second, fourth)};
      uint8_t* to = tables + nibble_table<kCount>(nibble);
      for (int d = 0; d < kCount; ++d) {
        v128_t part[4];
        for (int k = 0; k < 4; ++k) part[k] = wasm_v128_and(wasm_u32x4_shr(sums[k], uint32_t(6 * d)), digit);
        wasm_v128_store(to + 64 * d, wasm_u8x16_narrow_i16x8(wasm_i16x8_narrow_i32x4(part[0], part[1]),
                                                             wasm_i16x8_narrow_i32x4(part[2], part[3])));
      }
    }
  }
};

}  // namespace

extern const BinaryConvInputGrad kBinaryConvInputGradWasm = Nibbles<LookUp, Build>::kKernel;

}  // namespace bitreplay
