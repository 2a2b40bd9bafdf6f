#include <wasm_simd128.h>

#include "kernels/latent_code/latent_code_eights.h"

namespace bitreplay {
namespace {

struct Lanes {
  struct Vector {
    v128_t low, high;
  };

  static Vector of_sixteen_bits(v128_t x) { return {wasm_i32x4_extend_low_i16x8(x), wasm_i32x4_extend_high_i16x8(x)}; }
  static Vector load(const int8_t* from) { return of_sixteen_bits(wasm_i16x8_load8x8(from)); }
  static Vector load(const int16_t* from) { return of_sixteen_bits(wasm_v128_load(from)); }
  static Vector load(const int32_t* from) { return {wasm_v128_load(from), wasm_v128_load(from + 4)}; }

  static void store(int8_t* to, Vector x) {
    wasm_v128_store64_lane(
        to, wasm_i8x16_shuffle(x.low, x.high, 0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28), 0);
  }
  static void store(int16_t* to, Vector x) {
    wasm_v128_store(to, wasm_i16x8_shuffle(x.low, x.high, 0, 2, 4, 6, 8, 10, 12, 14));
  }
  static void store(int32_t* to, Vector x) {
    wasm_v128_store(to, x.low);
    wasm_v128_store(to + 4, x.high);
  }

  static Vector all(int32_t x) { return {wasm_i32x4_splat(x), wasm_i32x4_splat(x)}; }
  static Vector add(Vector a, Vector b) { return {wasm_i32x4_add(a.low, b.low), wasm_i32x4_add(a.high, b.high)}; }
  static Vector sub(Vector a, Vector b) { return {wasm_i32x4_sub(a.low, b.low), wasm_i32x4_sub(a.high, b.high)}; }
  // The instruction takes places modulo 32.
  static Vector up(Vector x, int places) {
    if (places > 31) return all(0);
    return {wasm_i32x4_shl(x.low, uint32_t(places)), wasm_i32x4_shl(x.high, uint32_t(places))};
  }
  static Vector down(Vector x, int places) {
    if (places > 31) return all(0);
    return {wasm_u32x4_shr(x.low, uint32_t(places)), wasm_u32x4_shr(x.high, uint32_t(places))};
  }
  static Vector at_least(Vector a, Vector b) { return {wasm_i32x4_ge(a.low, b.low), wasm_i32x4_ge(a.high, b.high)}; }
  static Vector any_of(Vector x, v128_t low, v128_t high) {
    const v128_t none = wasm_i32x4_const_splat(0);
    return {wasm_i32x4_ne(wasm_v128_and(x.low, low), none), wasm_i32x4_ne(wasm_v128_and(x.high, high), none)};
  }
  static Vector odd(Vector x) { return any_of(x, wasm_i32x4_const_splat(1), wasm_i32x4_const_splat(1)); }
  static uint8_t bits_of(Vector mask) {
    return uint8_t(wasm_i16x8_bitmask(wasm_i16x8_narrow_i32x4(mask.low, mask.high)));
  }
  static Vector mask_of(uint8_t bits) {
    return any_of(all(bits), wasm_i32x4_const(1, 2, 4, 8), wasm_i32x4_const(16, 32, 64, 128));
  }
  static Vector select(Vector mask, Vector a, Vector b) {
    return {wasm_v128_bitselect(a.low, b.low, mask.low), wasm_v128_bitselect(a.high, b.high, mask.high)};
  }
};

}  // namespace

void encode_latents_wasm(const EncodeLatentsArgs& a) { encode_with<Lanes>(a); }
void decode_latents_wasm(const DecodeLatentsArgs& a) { decode_with<Lanes>(a); }

}  // namespace bitreplay
