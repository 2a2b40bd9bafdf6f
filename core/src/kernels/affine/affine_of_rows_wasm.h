// affine of a convolution's sums, prepared when the program was opened (affine_in_order.h): the high halves of products
// of 32 bits, eight channels down the rows.
#pragma once
#include <wasm_simd128.h>

#include "kernels/affine/affine_in_order.h"

namespace bitreplay {
namespace {

inline void affine_of_rows_wasm(const AffineArgs& a, const uint8_t* of_all) {
  constexpr int64_t counted = 1 << 14;  // rows that 16 bits count
  const AffineInOrder* prepared = reinterpret_cast<const AffineInOrder*>(of_all);
  if (!prepared || !prepared->fits) return affine_wasm(a);
  const v128_t low = wasm_i16x8_splat(int16_t(a.low)), high = wasm_i16x8_splat(int16_t(a.high));
  const uint32_t down = uint32_t(prepared->down);
  const int64_t channels = a.channels, rows = a.rows;
  int64_t outside = 0;
  for (int64_t c = 0; c < channels; c += 8) {
    const AffineInOrder::Column& own = prepared->columns[c / 8];
    const v128_t slope = wasm_v128_load(own.slope), more = wasm_v128_load(own.slope + 4);
    const v128_t c0 = wasm_v128_load(own.constant), c1 = wasm_v128_load(own.constant + 2);
    const v128_t c2 = wasm_v128_load(own.constant + 4), c3 = wasm_v128_load(own.constant + 6);
    const auto whole = [&](v128_t x, v128_t by, v128_t first, v128_t second) __attribute__((always_inline)) {
      const v128_t front = wasm_i64x2_add(wasm_i64x2_extmul_low_i32x4(x, by), first);
      const v128_t back = wasm_i64x2_add(wasm_i64x2_extmul_high_i32x4(x, by), second);
      return wasm_i32x4_shr(wasm_i32x4_shuffle(front, back, 1, 3, 5, 7), down);
    };
    const int32_t* x = static_cast<const int32_t*>(a.x) + c;
    int8_t* y = static_cast<int8_t*>(a.y) + c;
    for (int64_t start = 0; start < rows; start += counted) {
      v128_t differing = wasm_i16x8_const_splat(0);
      const int64_t end = min_of(rows, start + counted);
      for (int64_t row = start; row < end; ++row, x += channels, y += channels) {
        const v128_t value = wasm_i16x8_narrow_i32x4(whole(wasm_v128_load(x), slope, c0, c1),
                                                     whole(wasm_v128_load(x + 4), more, c2, c3));
        const v128_t result = wasm_i16x8_min(wasm_i16x8_max(value, low), high);
        differing = wasm_i16x8_sub(differing, wasm_i16x8_ne(value, result));
        wasm_v128_store64_lane(y, wasm_i8x16_narrow_i16x8(result, result), 0);
      }
      const v128_t pairs = wasm_i32x4_extadd_pairwise_i16x8(differing);
      outside += wasm_i32x4_extract_lane(pairs, 0) + wasm_i32x4_extract_lane(pairs, 1) +
                 wasm_i32x4_extract_lane(pairs, 2) + wasm_i32x4_extract_lane(pairs, 3);
    }
  }
  *a.saturated = add(*a.saturated, outside);
}

}  // namespace
}  // namespace bitreplay
