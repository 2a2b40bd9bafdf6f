// A comparison and its mask of 16 bits (i8x16.bitmask). Wider elements are narrowed to bytes first.
#include <wasm_simd128.h>

#include "bitreplay.h"
#include "kernels/sign/pack_signs.h"

namespace bitreplay {
namespace {

// Bit i: x[i] >= zero, of 16 elements.
inline uint64_t at_least(const int8_t* x, int64_t zero) {
  return wasm_i8x16_bitmask(wasm_i8x16_ge(wasm_v128_load(x), wasm_i8x16_splat(int8_t(zero))));
}
inline uint64_t at_least(const int16_t* x, int64_t zero) {
  const v128_t limit = wasm_i16x8_splat(int16_t(zero));
  const v128_t a = wasm_i16x8_ge(wasm_v128_load(x), limit), b = wasm_i16x8_ge(wasm_v128_load(x + 8), limit);
  return wasm_i8x16_bitmask(wasm_i8x16_narrow_i16x8(a, b));
}
inline uint64_t at_least(const int32_t* x, int64_t zero) {
  const v128_t limit = wasm_i32x4_splat(int32_t(zero));
  v128_t half[2];
  for (int k = 0; k < 2; ++k)
    half[k] = wasm_i16x8_narrow_i32x4(wasm_i32x4_ge(wasm_v128_load(x + 8 * k), limit),
                                      wasm_i32x4_ge(wasm_v128_load(x + 8 * k + 4), limit));
  return wasm_i8x16_bitmask(wasm_i8x16_narrow_i16x8(half[0], half[1]));
}

template <class T>
void pack(const PackSignsArgs& a) {
  const T* x = static_cast<const T*>(a.x);
  uint64_t* bits = a.bits;
  for (int64_t row = 0; row < a.rows; ++row, x += a.channels) {
    for (int64_t at = 0; at < a.channels; at += 64) {
      const int64_t left = a.channels - at;
      uint64_t word = 0;
      int64_t i = 0;
      for (; i < 64 && i + 16 <= left; i += 16) word |= at_least(x + at + i, a.zero) << i;
      for (; i < 64 && i < left; ++i) word |= uint64_t(x[at + i] >= a.zero) << i;
      *bits++ = word;
    }
  }
}

}  // namespace

void pack_signs_wasm(const PackSignsArgs& a) {
  if (a.x_type == BR_INT8 && a.zero == int8_t(a.zero)) return pack<int8_t>(a);
  if (a.x_type == BR_INT16 && a.zero == int16_t(a.zero)) return pack<int16_t>(a);
  if (a.x_type == BR_INT32 && a.zero == int32_t(a.zero)) return pack<int32_t>(a);
  pack_signs_scalar(a);
}

}  // namespace bitreplay
