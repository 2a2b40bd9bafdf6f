// Numbers of 16 bits whose products are added in pairs to 32-bit lanes, where the set has such an instruction
// (BR_PAIRS).
//
// Words    kWords numbers of 16 bits.
// weave    two vectors of words as pairs, in two halves: each group of eight words gives its first four to `low` and
//          the others to `high`, so that lane j of a half is channel woven(half, j), and pack() brings them back in
//          order.
#pragma once
#include "kernels/lanes/lanes32.h"

#if defined(__AVX512BW__) || defined(__AVX2__) || defined(__wasm_simd128__)
#define BR_PAIRS 1
#else
#define BR_PAIRS 0
#endif

#if BR_PAIRS

namespace bitreplay {
namespace {

constexpr int64_t kWords = 2 * kLanes;
inline int64_t woven(int64_t half, int64_t lane) { return lane / 4 * 8 + 4 * half + lane % 4; }

#if defined(__AVX512BW__)

struct Words {
  __m512i v;
};
inline Words all_words(int16_t x) { return {_mm512_set1_epi16(x)}; }
inline Words load_words(const int16_t* from) { return {_mm512_loadu_si512(from)}; }
inline void store_words(int16_t* to, Words x) { _mm512_storeu_si512(to, x.v); }
inline Words load_words(const int8_t* from) {
  return {_mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)))};
}
inline Words weave_low(Words a, Words b) { return {_mm512_unpacklo_epi16(a.v, b.v)}; }
inline Words weave_high(Words a, Words b) { return {_mm512_unpackhi_epi16(a.v, b.v)}; }
inline Lanes add_dot(Lanes sum, Words a, Lanes b) { return {_mm512_dpwssd_epi32(sum.v, a.v, b.v)}; }
inline Words pack(Lanes low, Lanes high) { return {_mm512_packs_epi32(low.v, high.v)}; }
inline Words smaller(Words a, Words b) { return {_mm512_min_epi16(a.v, b.v)}; }
inline Words larger(Words a, Words b) { return {_mm512_max_epi16(a.v, b.v)}; }
inline Words operator&(Words a, Words b) { return {_mm512_and_si512(a.v, b.v)}; }
inline int64_t count_unequal(Words a, Words b) { return __builtin_popcount(_mm512_cmpneq_epi16_mask(a.v, b.v)); }
inline void store_bytes(int8_t* to, Words x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi16_epi8(x.v));
}
// Whether the low 16 bits of some lane are 0.
inline bool some_low_zero(Lanes a, Lanes b) {
  const __m512i low = _mm512_set1_epi32(0xFFFF);
  return !_kortestz_mask16_u8(_mm512_testn_epi32_mask(a.v, low), _mm512_testn_epi32_mask(b.v, low));
}
// value - 1 where value < limit and the low 16 bits of `rest` are 0.
inline Lanes less_one_where(Lanes value, Lanes limit, Lanes rest) {
  const __mmask16 below = _mm512_cmplt_epi32_mask(value.v, limit.v);
  const __mmask16 both = _mm512_mask_testn_epi32_mask(below, rest.v, _mm512_set1_epi32(0xFFFF));
  return {_mm512_mask_sub_epi32(value.v, both, value.v, _mm512_set1_epi32(1))};
}

#elif defined(__AVX2__)

struct Words {
  __m256i v;
};
inline Words all_words(int16_t x) { return {_mm256_set1_epi16(x)}; }
inline Words load_words(const int16_t* from) { return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))}; }
inline void store_words(int16_t* to, Words x) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), x.v); }
inline Words load_words(const int8_t* from) {
  return {_mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)))};
}
inline Words weave_low(Words a, Words b) { return {_mm256_unpacklo_epi16(a.v, b.v)}; }
inline Words weave_high(Words a, Words b) { return {_mm256_unpackhi_epi16(a.v, b.v)}; }
inline Lanes add_dot(Lanes sum, Words a, Lanes b) { return {_mm256_add_epi32(sum.v, _mm256_madd_epi16(a.v, b.v))}; }
inline Words pack(Lanes low, Lanes high) { return {_mm256_packs_epi32(low.v, high.v)}; }
inline Words smaller(Words a, Words b) { return {_mm256_min_epi16(a.v, b.v)}; }
inline Words larger(Words a, Words b) { return {_mm256_max_epi16(a.v, b.v)}; }
inline Words operator&(Words a, Words b) { return {_mm256_and_si256(a.v, b.v)}; }
inline int64_t count_unequal(Words a, Words b) {
  return kWords - __builtin_popcount(uint32_t(_mm256_movemask_epi8(_mm256_cmpeq_epi16(a.v, b.v)))) / 2;
}
inline void store_bytes(int8_t* to, Words x) {
  const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(x.v), _mm256_extracti128_si256(x.v, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
}
inline bool some_low_zero(Lanes a, Lanes b) {
  const __m256i low = _mm256_blend_epi16(a.v, _mm256_slli_epi32(b.v, 16), 0xAA);
  return _mm256_movemask_epi8(_mm256_cmpeq_epi16(low, _mm256_setzero_si256())) != 0;
}
inline Lanes less_one_where(Lanes value, Lanes limit, Lanes rest) {
  const __m256i none = _mm256_cmpeq_epi32(_mm256_slli_epi32(rest.v, 16), _mm256_setzero_si256());
  return {_mm256_add_epi32(value.v, _mm256_and_si256(_mm256_cmpgt_epi32(limit.v, value.v), none))};
}

#else

struct Words {
  v128_t v;
};
inline Words all_words(int16_t x) { return {wasm_i16x8_splat(x)}; }
inline Words load_words(const int16_t* from) { return {wasm_v128_load(from)}; }
inline Words load_words(const int8_t* from) { return {wasm_i16x8_load8x8(from)}; }
inline Words weave_low(Words a, Words b) { return {wasm_i16x8_shuffle(a.v, b.v, 0, 8, 1, 9, 2, 10, 3, 11)}; }
inline Words weave_high(Words a, Words b) { return {wasm_i16x8_shuffle(a.v, b.v, 4, 12, 5, 13, 6, 14, 7, 15)}; }
inline Lanes add_dot(Lanes sum, Words a, Lanes b) { return {wasm_i32x4_add(sum.v, wasm_i32x4_dot_i16x8(a.v, b.v))}; }
inline Words pack(Lanes low, Lanes high) { return {wasm_i16x8_narrow_i32x4(low.v, high.v)}; }
inline Words smaller(Words a, Words b) { return {wasm_i16x8_min(a.v, b.v)}; }
inline Words larger(Words a, Words b) { return {wasm_i16x8_max(a.v, b.v)}; }
inline Words operator&(Words a, Words b) { return {wasm_v128_and(a.v, b.v)}; }
inline int64_t count_unequal(Words a, Words b) {
  return __builtin_popcount(uint32_t(wasm_i16x8_bitmask(wasm_i16x8_ne(a.v, b.v))));
}
inline void store_bytes(int8_t* to, Words x) { wasm_v128_store64_lane(to, wasm_i8x16_narrow_i16x8(x.v, x.v), 0); }
inline bool some_low_zero(Lanes a, Lanes b) {
  const v128_t low = wasm_i16x8_shuffle(a.v, b.v, 0, 2, 4, 6, 8, 10, 12, 14);
  return !wasm_i16x8_all_true(low);
}
inline Lanes less_one_where(Lanes value, Lanes limit, Lanes rest) {
  const v128_t none = wasm_i32x4_eq(wasm_i32x4_shl(rest.v, 16), wasm_i32x4_splat(0));
  return {wasm_i32x4_add(value.v, wasm_v128_and(wasm_i32x4_lt(value.v, limit.v), none))};
}

#endif

}  // namespace
}  // namespace bitreplay

#endif
