// A comparison of 64 bytes, 32 words or 16 doublewords is a mask: the packed bits themselves.
#include <immintrin.h>

#include "bitreplay.h"
#include "kernels/sign/pack_signs.h"

namespace bitreplay {
namespace {

inline uint64_t at_least(const int8_t* x, int64_t left, __m512i zero) {
  const __mmask64 mask = left >= 64 ? ~__mmask64(0) : (__mmask64(1) << left) - 1;
  return _mm512_mask_cmpge_epi8_mask(mask, _mm512_maskz_loadu_epi8(mask, x), zero);
}

inline uint64_t at_least(const int16_t* x, int64_t left, __m512i zero) {
  uint64_t word = 0;
  for (int part = 0; part < 2 && left > 0; ++part, left -= 32) {
    const __mmask32 mask = left >= 32 ? ~__mmask32(0) : (__mmask32(1) << left) - 1;
    const __m512i values = _mm512_maskz_loadu_epi16(mask, x + 32 * part);
    word |= uint64_t(_mm512_mask_cmpge_epi16_mask(mask, values, zero)) << (32 * part);
  }
  return word;
}

inline uint64_t at_least(const int32_t* x, int64_t left, __m512i zero) {
  uint64_t word = 0;
  for (int part = 0; part < 4 && left > 0; ++part, left -= 16) {
    const __mmask16 mask = left >= 16 ? __mmask16(0xFFFF) : __mmask16((1 << left) - 1);
    const __m512i values = _mm512_maskz_loadu_epi32(mask, x + 16 * part);
    word |= uint64_t(_mm512_mask_cmpge_epi32_mask(mask, values, zero)) << (16 * part);
  }
  return word;
}

template <class T>
void pack(const PackSignsArgs& a, __m512i zero) {
  const T* x = static_cast<const T*>(a.x);
  uint64_t* bits = a.bits;
  for (int64_t row = 0; row < a.rows; ++row, x += a.channels)
    for (int64_t at = 0; at < a.channels; at += 64) *bits++ = at_least(x + at, a.channels - at, zero);
}

}  // namespace

void pack_signs_avx512(const PackSignsArgs& a) {
  if (a.x_type == BR_INT8 && a.zero == int8_t(a.zero)) return pack<int8_t>(a, _mm512_set1_epi8(char(a.zero)));
  if (a.x_type == BR_INT16 && a.zero == int16_t(a.zero)) return pack<int16_t>(a, _mm512_set1_epi16(short(a.zero)));
  if (a.x_type == BR_INT32 && a.zero == int32_t(a.zero)) return pack<int32_t>(a, _mm512_set1_epi32(int(a.zero)));
  pack_signs_scalar(a);  // a threshold that the stored width cannot hold
}

}  // namespace bitreplay
