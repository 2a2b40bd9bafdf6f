// lanes32.h on AVX2: 8 lanes; products of the even lanes and of the odd ones.
#pragma once
#include <immintrin.h>

#include <cstdint>

namespace bitreplay {
namespace {

constexpr int64_t kLanes = 8;
struct Lanes {
  __m256i v;
};
struct Wide {
  __m256i even, odd;
};
struct Where {
  __m256i mask;
};

inline Lanes all_lanes(int32_t x) { return {_mm256_set1_epi32(x)}; }
inline Wide all_wide(int64_t x) { return {_mm256_set1_epi64x(x), _mm256_set1_epi64x(x)}; }

inline Lanes load_lanes(const int8_t* from) {
  return {_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)))};
}
inline Lanes load_lanes(const int16_t* from) {
  return {_mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)))};
}
inline Lanes load_lanes(const int32_t* from) { return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))}; }

// Storing keeps the low bits: they are gathered in each half, and the halves put side by side.
inline void store_lanes(int8_t* to, Lanes x) {
  const __m256i places = _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,  //
                                          -1, -1, -1, -1, 0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m256i halves = _mm256_shuffle_epi8(x.v, places);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to),
                   _mm_or_si128(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1)));
}
inline void store_lanes(int16_t* to, Lanes x) {
  const __m256i places = _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1,  //
                                          -1, -1, -1, -1, -1, -1, -1, -1, 0, 1, 4, 5, 8, 9, 12, 13);
  const __m256i halves = _mm256_shuffle_epi8(x.v, places);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                   _mm_or_si128(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1)));
}
inline void store_lanes(int32_t* to, Lanes x) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), x.v); }

inline Wide load_wide(const int64_t* from) {
  const __m256i* vectors = reinterpret_cast<const __m256i*>(from);
  const __m256i a = _mm256_loadu_si256(vectors), b = _mm256_loadu_si256(vectors + 1);
  return {_mm256_permute4x64_epi64(_mm256_unpacklo_epi64(a, b), 0xD8),
          _mm256_permute4x64_epi64(_mm256_unpackhi_epi64(a, b), 0xD8)};
}
inline void store_wide(int64_t* to, Wide x) {
  __m256i* vectors = reinterpret_cast<__m256i*>(to);
  const __m256i a = _mm256_unpacklo_epi64(x.even, x.odd), b = _mm256_unpackhi_epi64(x.even, x.odd);
  _mm256_storeu_si256(vectors, _mm256_permute2x128_si256(a, b, 0x20));
  _mm256_storeu_si256(vectors + 1, _mm256_permute2x128_si256(a, b, 0x31));
}

inline Lanes operator+(Lanes a, Lanes b) { return {_mm256_add_epi32(a.v, b.v)}; }
inline Lanes operator-(Lanes a, Lanes b) { return {_mm256_sub_epi32(a.v, b.v)}; }
inline Lanes operator<<(Lanes a, int64_t s) { return {_mm256_sll_epi32(a.v, _mm_cvtsi64_si128(s))}; }
inline Lanes operator>>(Lanes a, int64_t s) { return {_mm256_sra_epi32(a.v, _mm_cvtsi64_si128(s))}; }
inline Lanes smaller(Lanes a, Lanes b) { return {_mm256_min_epi32(a.v, b.v)}; }
inline Lanes larger(Lanes a, Lanes b) { return {_mm256_max_epi32(a.v, b.v)}; }
inline Lanes magnitude(Lanes a) { return {_mm256_abs_epi32(a.v)}; }
inline Where operator>(Lanes a, Lanes b) { return {_mm256_cmpgt_epi32(a.v, b.v)}; }
inline Lanes choose(Where where, Lanes yes, Lanes no) { return {_mm256_blendv_epi8(no.v, yes.v, where.mask)}; }
// Bit i of a number stands for lane i.
inline Where where_bits(uint32_t bits) {
  const __m256i places = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  return {_mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(int32_t(bits)), places), places)};
}
inline uint32_t bits_where(Where where) { return uint32_t(_mm256_movemask_ps(_mm256_castsi256_ps(where.mask))); }
// count + 1 where a and b differ.
inline Lanes count_unequal(Lanes count, Lanes a, Lanes b) {
  return {_mm256_add_epi32(count.v, _mm256_andnot_si256(_mm256_cmpeq_epi32(a.v, b.v), _mm256_set1_epi32(1)))};
}

inline Wide operator*(Lanes a, Lanes b) {
  return {_mm256_mul_epi32(a.v, b.v), _mm256_mul_epi32(_mm256_srli_epi64(a.v, 32), _mm256_srli_epi64(b.v, 32))};
}
inline Wide operator+(Wide a, Wide b) { return {_mm256_add_epi64(a.even, b.even), _mm256_add_epi64(a.odd, b.odd)}; }
inline Wide operator-(Wide a, Wide b) { return {_mm256_sub_epi64(a.even, b.even), _mm256_sub_epi64(a.odd, b.odd)}; }
inline __m256i magnitude64(__m256i a) {
  const __m256i negative = _mm256_cmpgt_epi64(_mm256_setzero_si256(), a);
  return _mm256_sub_epi64(_mm256_xor_si256(a, negative), negative);
}
inline Wide magnitude(Wide a) { return {magnitude64(a.even), magnitude64(a.odd)}; }
inline Wide larger(Wide a, Wide b) {
  return {_mm256_blendv_epi8(b.even, a.even, _mm256_cmpgt_epi64(a.even, b.even)),
          _mm256_blendv_epi8(b.odd, a.odd, _mm256_cmpgt_epi64(a.odd, b.odd))};
}

// a - 1 where a < b.
inline Wide less_one_below(Wide a, Wide b) {
  return {_mm256_add_epi64(a.even, _mm256_cmpgt_epi64(b.even, a.even)),
          _mm256_add_epi64(a.odd, _mm256_cmpgt_epi64(b.odd, a.odd))};
}

// The low and the high 32 bits.
inline Lanes low_lanes(Wide x) { return {_mm256_blend_epi32(x.even, _mm256_slli_epi64(x.odd, 32), 0xAA)}; }
inline Lanes high_lanes(Wide x) { return {_mm256_blend_epi32(_mm256_srli_epi64(x.even, 32), x.odd, 0xAA)}; }

inline Wide shift_left(Wide x, int64_t s) {
  const __m128i by = _mm_cvtsi64_si128(s);
  return {_mm256_sll_epi64(x.even, by), _mm256_sll_epi64(x.odd, by)};
}
// The low 32 bits of x / 2^s rounded down, s <= 32: the sign is not among them.
inline Lanes low_right(Wide x, int64_t s) {
  const __m128i by = _mm_cvtsi64_si128(s);
  return low_lanes({_mm256_srl_epi64(x.even, by), _mm256_srl_epi64(x.odd, by)});
}
// There is no such shift of signed numbers: a constant makes them unsigned, another takes it back.
inline Wide shift_right(Wide x, int64_t s) {
  const __m128i by = _mm_cvtsi64_si128(s);
  const __m256i lowest = _mm256_set1_epi64x(INT64_MIN), back = _mm256_srl_epi64(lowest, by);
  return {_mm256_sub_epi64(_mm256_srl_epi64(_mm256_add_epi64(x.even, lowest), by), back),
          _mm256_sub_epi64(_mm256_srl_epi64(_mm256_add_epi64(x.odd, lowest), by), back)};
}

}  // namespace
}  // namespace bitreplay
