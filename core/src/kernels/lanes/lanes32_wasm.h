// lanes32.h on WebAssembly's SIMD128: 4 lanes; products of the low half and of the high one.
#pragma once
#include <wasm_simd128.h>

#include <cstdint>

namespace bitreplay {
namespace {

constexpr int64_t kLanes = 4;
struct Lanes {
  v128_t v;
};
struct Wide {
  v128_t low, high;
};
struct Where {
  v128_t mask;
};

inline Lanes all_lanes(int32_t x) { return {wasm_i32x4_splat(x)}; }
inline Wide all_wide(int64_t x) { return {wasm_i64x2_splat(x), wasm_i64x2_splat(x)}; }

inline Lanes load_lanes(const int8_t* from) {
  return {wasm_i32x4_extend_low_i16x8(wasm_i16x8_extend_low_i8x16(wasm_v128_load32_zero(from)))};
}
inline Lanes load_lanes(const int16_t* from) { return {wasm_i32x4_load16x4(from)}; }
inline Lanes load_lanes(const int32_t* from) { return {wasm_v128_load(from)}; }

// Storing keeps the low bits.
inline void store_lanes(int8_t* to, Lanes x) {
  wasm_v128_store32_lane(to, wasm_i8x16_shuffle(x.v, x.v, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12), 0);
}
inline void store_lanes(int16_t* to, Lanes x) {
  wasm_v128_store64_lane(to, wasm_i16x8_shuffle(x.v, x.v, 0, 2, 4, 6, 0, 2, 4, 6), 0);
}
inline void store_lanes(int32_t* to, Lanes x) { wasm_v128_store(to, x.v); }

inline Wide load_wide(const int64_t* from) { return {wasm_v128_load(from), wasm_v128_load(from + 2)}; }
inline void store_wide(int64_t* to, Wide x) {
  wasm_v128_store(to, x.low);
  wasm_v128_store(to + 2, x.high);
}

// Shifts are of 0 to 31 places: the instruction takes them modulo 32.
inline Lanes operator+(Lanes a, Lanes b) { return {wasm_i32x4_add(a.v, b.v)}; }
inline Lanes operator-(Lanes a, Lanes b) { return {wasm_i32x4_sub(a.v, b.v)}; }
inline Lanes operator<<(Lanes a, int64_t s) { return {wasm_i32x4_shl(a.v, uint32_t(s))}; }
inline Lanes operator>>(Lanes a, int64_t s) { return {wasm_i32x4_shr(a.v, uint32_t(s))}; }
inline Lanes smaller(Lanes a, Lanes b) { return {wasm_i32x4_min(a.v, b.v)}; }
inline Lanes larger(Lanes a, Lanes b) { return {wasm_i32x4_max(a.v, b.v)}; }
inline Lanes magnitude(Lanes a) { return {wasm_i32x4_abs(a.v)}; }
inline Where operator>(Lanes a, Lanes b) { return {wasm_i32x4_gt(a.v, b.v)}; }
inline Lanes choose(Where where, Lanes yes, Lanes no) { return {wasm_v128_bitselect(yes.v, no.v, where.mask)}; }
// Bit i belongs to lane i.
inline Where where_bits(uint32_t bits) {
  const v128_t places = wasm_i32x4_const(1, 2, 4, 8);
  return {wasm_i32x4_eq(wasm_v128_and(wasm_i32x4_splat(int32_t(bits)), places), places)};
}
inline uint32_t bits_where(Where where) { return wasm_i32x4_bitmask(where.mask); }
// count + 1 where a and b differ.
inline Lanes count_unequal(Lanes count, Lanes a, Lanes b) { return {wasm_i32x4_sub(count.v, wasm_i32x4_ne(a.v, b.v))}; }

inline Wide operator*(Lanes a, Lanes b) {
  return {wasm_i64x2_extmul_low_i32x4(a.v, b.v), wasm_i64x2_extmul_high_i32x4(a.v, b.v)};
}
inline Wide operator+(Wide a, Wide b) { return {wasm_i64x2_add(a.low, b.low), wasm_i64x2_add(a.high, b.high)}; }
inline Wide operator-(Wide a, Wide b) { return {wasm_i64x2_sub(a.low, b.low), wasm_i64x2_sub(a.high, b.high)}; }
inline Wide magnitude(Wide a) { return {wasm_i64x2_abs(a.low), wasm_i64x2_abs(a.high)}; }
inline Wide larger(Wide a, Wide b) {
  return {wasm_v128_bitselect(a.low, b.low, wasm_i64x2_gt(a.low, b.low)),
          wasm_v128_bitselect(a.high, b.high, wasm_i64x2_gt(a.high, b.high))};
}

// a - 1 where a < b.
inline Wide less_one_below(Wide a, Wide b) {
  return {wasm_i64x2_add(a.low, wasm_i64x2_lt(a.low, b.low)), wasm_i64x2_add(a.high, wasm_i64x2_lt(a.high, b.high))};
}

// The low and the high 32 bits.
inline Lanes low_lanes(Wide x) { return {wasm_i32x4_shuffle(x.low, x.high, 0, 2, 4, 6)}; }
inline Lanes high_lanes(Wide x) { return {wasm_i32x4_shuffle(x.low, x.high, 1, 3, 5, 7)}; }

inline Wide shift_left(Wide x, int64_t s) {
  return {wasm_i64x2_shl(x.low, uint32_t(s)), wasm_i64x2_shl(x.high, uint32_t(s))};
}
inline Wide shift_right(Wide x, int64_t s) {
  return {wasm_i64x2_shr(x.low, uint32_t(s)), wasm_i64x2_shr(x.high, uint32_t(s))};
}
// The low 32 bits of x / 2^s rounded down, s <= 32.
inline Lanes low_right(Wide x, int64_t s) { return low_lanes(shift_right(x, s)); }

}  // namespace
}  // namespace bitreplay
