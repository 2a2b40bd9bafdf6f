// lanes32.h on AVX-512: 16 lanes; products of the even lanes and of the odd ones.
#pragma once
#include <immintrin.h>

#include <cstdint>

namespace bitreplay {
namespace {

constexpr int64_t kLanes = 16;
struct Lanes {
  __m512i v;
};
struct Wide {
  __m512i even, odd;
};
struct Where {
  __mmask16 mask;
};

inline Lanes all_lanes(int32_t x) { return {_mm512_set1_epi32(x)}; }
inline Wide all_wide(int64_t x) { return {_mm512_set1_epi64(x), _mm512_set1_epi64(x)}; }

inline Lanes load_lanes(const int8_t* from) {
  return {_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)))};
}
inline Lanes load_lanes(const int16_t* from) {
  return {_mm512_cvtepi16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)))};
}
inline Lanes load_lanes(const int32_t* from) { return {_mm512_loadu_si512(from)}; }

// Storing keeps the low bits.
inline void store_lanes(int8_t* to, Lanes x) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(x.v));
}
inline void store_lanes(int16_t* to, Lanes x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi32_epi16(x.v));
}
inline void store_lanes(int32_t* to, Lanes x) { _mm512_storeu_si512(to, x.v); }

inline Wide load_wide(const int64_t* from) {
  const __m512i a = _mm512_loadu_si512(from), b = _mm512_loadu_si512(from + 8);
  return {_mm512_permutex2var_epi64(a, _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), b),
          _mm512_permutex2var_epi64(a, _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15), b)};
}
inline void store_wide(int64_t* to, Wide x) {
  _mm512_storeu_si512(to, _mm512_permutex2var_epi64(x.even, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), x.odd));
  _mm512_storeu_si512(to + 8, _mm512_permutex2var_epi64(x.even, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15), x.odd));
}

inline Lanes operator+(Lanes a, Lanes b) { return {_mm512_add_epi32(a.v, b.v)}; }
inline Lanes operator-(Lanes a, Lanes b) { return {_mm512_sub_epi32(a.v, b.v)}; }
inline Lanes operator<<(Lanes a, int64_t s) { return {_mm512_sll_epi32(a.v, _mm_cvtsi64_si128(s))}; }
inline Lanes operator>>(Lanes a, int64_t s) { return {_mm512_sra_epi32(a.v, _mm_cvtsi64_si128(s))}; }
inline Lanes smaller(Lanes a, Lanes b) { return {_mm512_min_epi32(a.v, b.v)}; }
inline Lanes larger(Lanes a, Lanes b) { return {_mm512_max_epi32(a.v, b.v)}; }
inline Lanes magnitude(Lanes a) { return {_mm512_abs_epi32(a.v)}; }
inline Where operator>(Lanes a, Lanes b) { return {_mm512_cmpgt_epi32_mask(a.v, b.v)}; }
inline Lanes choose(Where where, Lanes yes, Lanes no) { return {_mm512_mask_blend_epi32(where.mask, no.v, yes.v)}; }
// Bit i of a number stands for lane i.
inline Where where_bits(uint32_t bits) { return {__mmask16(bits)}; }
inline uint32_t bits_where(Where where) { return where.mask; }
// count + 1 where a and b differ.
inline Lanes count_unequal(Lanes count, Lanes a, Lanes b) {
  return {_mm512_mask_add_epi32(count.v, _mm512_cmpneq_epi32_mask(a.v, b.v), count.v, _mm512_set1_epi32(1))};
}

inline Wide operator*(Lanes a, Lanes b) {
  return {_mm512_mul_epi32(a.v, b.v), _mm512_mul_epi32(_mm512_srli_epi64(a.v, 32), _mm512_srli_epi64(b.v, 32))};
}
inline Wide operator+(Wide a, Wide b) { return {_mm512_add_epi64(a.even, b.even), _mm512_add_epi64(a.odd, b.odd)}; }
inline Wide operator-(Wide a, Wide b) { return {_mm512_sub_epi64(a.even, b.even), _mm512_sub_epi64(a.odd, b.odd)}; }
inline Wide magnitude(Wide a) { return {_mm512_abs_epi64(a.even), _mm512_abs_epi64(a.odd)}; }
inline Wide larger(Wide a, Wide b) { return {_mm512_max_epi64(a.even, b.even), _mm512_max_epi64(a.odd, b.odd)}; }

// a - 1 where a < b.
inline Wide less_one_below(Wide a, Wide b) {
  const __m512i one = _mm512_set1_epi64(1);
  return {_mm512_mask_sub_epi64(a.even, _mm512_cmplt_epi64_mask(a.even, b.even), a.even, one),
          _mm512_mask_sub_epi64(a.odd, _mm512_cmplt_epi64_mask(a.odd, b.odd), a.odd, one)};
}

// The low and the high 32 bits.
inline Lanes low_lanes(Wide x) { return {_mm512_mask_shuffle_epi32(x.even, 0xAAAA, x.odd, _MM_PERM_CCAA)}; }
inline Lanes high_lanes(Wide x) { return {_mm512_mask_shuffle_epi32(x.odd, 0x5555, x.even, _MM_PERM_DDBB)}; }

inline Wide shift_left(Wide x, int64_t s) {
  const __m128i by = _mm_cvtsi64_si128(s);
  return {_mm512_sll_epi64(x.even, by), _mm512_sll_epi64(x.odd, by)};
}
inline Wide shift_right(Wide x, int64_t s) {
  const __m128i by = _mm_cvtsi64_si128(s);
  return {_mm512_sra_epi64(x.even, by), _mm512_sra_epi64(x.odd, by)};
}
// The low 32 bits of x / 2^s rounded down, s <= 32.
inline Lanes low_right(Wide x, int64_t s) { return low_lanes(shift_right(x, s)); }

}  // namespace
}  // namespace bitreplay
