// Eight elements of any stored width as int64 lanes, and the law's rounding on them (fixedpoint.h). Masked lanes are
// neither read nor written.
#pragma once
#include <immintrin.h>

#include <cstdint>

namespace bitreplay {

constexpr int64_t kLanes8 = 8;

static inline __mmask8 lanes_mask(int64_t left) { return left >= 8 ? __mmask8(0xFF) : __mmask8((1 << left) - 1); }

static inline __m512i load8(const int8_t* from, __mmask8 mask) {
  return _mm512_cvtepi8_epi64(_mm_maskz_loadu_epi8(mask, from));
}
static inline __m512i load8(const int16_t* from, __mmask8 mask) {
  return _mm512_cvtepi16_epi64(_mm_maskz_loadu_epi16(mask, from));
}
static inline __m512i load8(const int32_t* from, __mmask8 mask) {
  return _mm512_cvtepi32_epi64(_mm256_maskz_loadu_epi32(mask, from));
}
static inline __m512i load8(const int64_t* from, __mmask8 mask) { return _mm512_maskz_loadu_epi64(mask, from); }

static inline void store8(int8_t* to, __mmask8 mask, __m512i x) { _mm512_mask_cvtepi64_storeu_epi8(to, mask, x); }
static inline void store8(int16_t* to, __mmask8 mask, __m512i x) { _mm512_mask_cvtepi64_storeu_epi16(to, mask, x); }
static inline void store8(int32_t* to, __mmask8 mask, __m512i x) { _mm512_mask_cvtepi64_storeu_epi32(to, mask, x); }
static inline void store8(int64_t* to, __mmask8 mask, __m512i x) { _mm512_mask_storeu_epi64(to, mask, x); }

// round_shift with one shift for all lanes, prepared once.
struct RoundShift8 {
  __m512i half, keep;
  __m128i right, left;
  bool rounds;

  explicit RoundShift8(int64_t s) {
    rounds = s > 0;
    const int64_t up = s < -62 ? 62 : s < 0 ? -s : 0;
    keep = _mm512_set1_epi64(s > 62 ? 0 : -1);
    half = _mm512_set1_epi64(s > 0 && s <= 62 ? int64_t(1) << (s - 1) : 0);
    right = _mm_cvtsi64_si128(s > 0 && s <= 62 ? s : 0);
    left = _mm_cvtsi64_si128(up);
  }

  // x / 2^s to nearest, ties away from zero: one less is added to a negative number.
  __m512i operator()(__m512i x) const {
    if (!rounds) return _mm512_sll_epi64(x, left);
    const __m512i negative = _mm512_srai_epi64(x, 63);
    return _mm512_and_si512(_mm512_sra_epi64(_mm512_add_epi64(_mm512_add_epi64(x, half), negative), right), keep);
  }
};

// Calls f(T()) with the C type of a stored width.
template <class F>
static inline void with_type(int type, F f) {
  if (type == 0) f(int8_t());
  else if (type == 1) f(int16_t());
  else if (type == 2) f(int32_t());
  else f(int64_t());
}

}  // namespace bitreplay
