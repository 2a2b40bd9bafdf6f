// Tables of 16 bytes looked up by i8x16.swizzle, 16 channels at a time (nibble_tables.h).
#include <wasm_simd128.h>

#include "kernels/binary_conv/nibble_tables.h"

namespace bitreplay {
namespace {

// Sums of 16 bits: 64 blocks of at most 4 * 63 fit.
template <int kCount>
inline void look_up(const uint8_t* tables, const uint8_t* weights, int64_t blocks, uint32_t (*digits)[kNibbleChannels]) {
  const v128_t low = wasm_i8x16_const_splat(15), bytes = wasm_i16x8_const_splat(255);
  for (int half = 0; half < 2; ++half) {
    v128_t even[kCount], odd[kCount];
    for (int d = 0; d < kCount; ++d) even[d] = odd[d] = wasm_i16x8_const_splat(0);
    const uint8_t *from = weights + 16 * half, *table = tables;
    for (int64_t block = 0; block < blocks; ++block, from += kNibbleBlockBytes, table += 4 * kCount * 16) {
      const v128_t first = wasm_v128_load(from), second = wasm_v128_load(from + 32);
      const v128_t nibbles[4] = {wasm_v128_and(first, low), wasm_v128_and(wasm_u16x8_shr(first, 4), low),
                                 wasm_v128_and(second, low), wasm_v128_and(wasm_u16x8_shr(second, 4), low)};
      for (int d = 0; d < kCount; ++d) {
        v128_t sum = wasm_i8x16_swizzle(wasm_v128_load(table + 16 * d), nibbles[0]);
        for (int n = 1; n < 4; ++n)
          sum = wasm_i8x16_add(sum, wasm_i8x16_swizzle(wasm_v128_load(table + (n * kCount + d) * 16), nibbles[n]));
        even[d] = wasm_i16x8_add(even[d], wasm_v128_and(sum, bytes));
        odd[d] = wasm_i16x8_add(odd[d], wasm_u16x8_shr(sum, 8));
      }
    }
    for (int d = 0; d < kCount; ++d) {
      const v128_t front = wasm_i16x8_shuffle(even[d], odd[d], 0, 8, 1, 9, 2, 10, 3, 11);
      const v128_t back = wasm_i16x8_shuffle(even[d], odd[d], 4, 12, 5, 13, 6, 14, 7, 15);
      uint32_t* to = digits[d] + 16 * half;
      wasm_v128_store(to, wasm_u32x4_extend_low_u16x8(front));
      wasm_v128_store(to + 4, wasm_u32x4_extend_high_u16x8(front));
      wasm_v128_store(to + 8, wasm_u32x4_extend_low_u16x8(back));
      wasm_v128_store(to + 12, wasm_u32x4_extend_high_u16x8(back));
    }
  }
}

uint64_t derived_bytes(const BinaryConvInputGradArgs& a) {
  return nibbles_serve(a) ? nibble_derived_bytes(a) : kBinaryConvInputGradScalar.derived_bytes(a);
}

void derive(const BinaryConvInputGradArgs& a, uint8_t* derived) {
  if (nibbles_serve(a)) return nibble_derive(a, derived);
  kBinaryConvInputGradScalar.derive(a, derived);
}

void run(const BinaryConvInputGradArgs& a) {
  if (!nibbles_serve(a)) return kBinaryConvInputGradScalar.run(a);
  if (a.g_type == BR_INT8) return nibble_run<int8_t>(a, look_up<2>);
  nibble_run<int16_t>(a, look_up<3>);
}

}  // namespace

extern const BinaryConvInputGrad kBinaryConvInputGradWasm = {derived_bytes, derive, run};

}  // namespace bitreplay
