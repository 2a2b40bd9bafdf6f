// Sixteen channels at a time, all rows of them: their thresholds or values stay in registers.
#include <immintrin.h>

#include "arithmetic/packing.h"
#include "kernels/lanes/lanes_avx512.h"
#include "kernels/latent_code/latent_code.h"

namespace bitreplay {
namespace {

constexpr int64_t kLanes16 = 16, kMaxThresholds = 15;

inline __mmask16 mask16(int64_t left) { return left >= 16 ? __mmask16(0xFFFF) : __mmask16((1 << left) - 1); }

inline __m512i load16(const int8_t* from, __mmask16 mask) {
  return _mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(mask, from));
}
inline __m512i load16(const int16_t* from, __mmask16 mask) {
  return _mm512_cvtepi16_epi32(_mm256_maskz_loadu_epi16(mask, from));
}
inline __m512i load16(const int32_t* from, __mmask16 mask) { return _mm512_maskz_loadu_epi32(mask, from); }
inline void store16(int8_t* to, __mmask16 mask, __m512i x) { _mm512_mask_cvtepi32_storeu_epi8(to, mask, x); }
inline void store16(int16_t* to, __mmask16 mask, __m512i x) { _mm512_mask_cvtepi32_storeu_epi16(to, mask, x); }
inline void store16(int32_t* to, __mmask16 mask, __m512i x) { _mm512_mask_storeu_epi32(to, mask, x); }

// Entry `number` of 16 rows of a table with `columns` columns.
inline __m512i column(const int32_t* table, int64_t columns, int64_t number, __mmask16 mask) {
  const __m512i rows = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i at = _mm512_mullo_epi32(rows, _mm512_set1_epi32(int(columns)));
  return _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), mask, at, table + number, 4);
}

template <class X>
void encode(const EncodeLatentsArgs& a) {
  const int64_t words = words_for(a.channels), count = a.thresholds ? (int64_t(1) << a.bits) - 1 : 0;
  const __m512i low = _mm512_set1_epi32(int32_t(a.low));
  for (int64_t i = 0; i < a.rows * a.bits * words; ++i) a.code[i] = 0;
  for (int64_t c = 0; c < a.channels; c += kLanes16) {
    const __mmask16 mask = mask16(a.channels - c);
    __m512i thresholds[kMaxThresholds];
    for (int64_t t = 0; t < count; ++t) thresholds[t] = column(a.thresholds + c * count, count, t, mask);
    for (int64_t row = 0; row < a.rows; ++row) {
      const __m512i x = load16(static_cast<const X*>(a.x) + row * a.channels + c, mask);
      __m512i index = _mm512_setzero_si512();
      if (a.thresholds) {
        for (int64_t t = 0; t < count; ++t)
          index = _mm512_mask_add_epi32(index, _mm512_cmpge_epi32_mask(x, thresholds[t]), index, _mm512_set1_epi32(1));
      } else {
        index = _mm512_srl_epi32(_mm512_sub_epi32(x, low), _mm_cvtsi64_si128(a.cut));
      }
      for (int64_t plane = 0; plane < a.bits; ++plane) {
        const __mmask16 ones = _mm512_mask_test_epi32_mask(mask, index, _mm512_set1_epi32(int32_t(1u << plane)));
        a.code[(row * a.bits + plane) * words + c / kWord] |= uint64_t(ones) << (c % kWord);
      }
    }
  }
}

template <class X>
void decode(const DecodeLatentsArgs& a) {
  const int64_t words = words_for(a.channels), count = int64_t(1) << a.bits;
  const __m512i offset = _mm512_set1_epi32(int32_t(uint32_t(a.low) + uint32_t((int64_t(1) << a.cut) >> 1)));
  const __m512i rows = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i first = _mm512_slli_epi32(rows, unsigned(a.bits & 31));
  for (int64_t c = 0; c < a.channels; c += kLanes16) {
    const __mmask16 mask = mask16(a.channels - c);
    const int32_t* table = a.values ? a.values + c * count : nullptr;
    const bool two = table && a.bits == 1;
    const __m512i zero = two ? column(table, 2, 0, mask) : offset, one = two ? column(table, 2, 1, mask) : offset;
    for (int64_t row = 0; row < a.rows; ++row) {
      const uint64_t* code = a.code + row * a.bits * words + c / kWord;
      __m512i x;
      if (two) {
        x = _mm512_mask_blend_epi32(__mmask16(*code >> (c % kWord)), zero, one);
      } else {
        __m512i index = _mm512_setzero_si512();
        for (int64_t plane = 0; plane < a.bits; ++plane) {
          const __m512i bit = _mm512_set1_epi32(int32_t(1u << plane));
          index = _mm512_mask_or_epi32(index, __mmask16(code[plane * words] >> (c % kWord)), index, bit);
        }
        x = table ? _mm512_mask_i32gather_epi32(index, mask, _mm512_add_epi32(first, index), table, 4)
                  : _mm512_add_epi32(_mm512_sll_epi32(index, _mm_cvtsi64_si128(a.cut)), offset);
      }
      store16(static_cast<X*>(a.x) + row * a.channels + c, mask, x);
    }
  }
}

}  // namespace

void encode_latents_avx512(const EncodeLatentsArgs& a) {
  if (a.thresholds ? a.bits > 4 : a.bits + a.cut > 32) return encode_latents_scalar(a);
  with_type(a.x_type, [&](auto x) {
    if constexpr (sizeof x < 8) encode<decltype(x)>(a);
  });
}

void decode_latents_avx512(const DecodeLatentsArgs& a) {
  with_type(a.x_type, [&](auto x) {
    if constexpr (sizeof x < 8) decode<decltype(x)>(a);
  });
}

}  // namespace bitreplay
