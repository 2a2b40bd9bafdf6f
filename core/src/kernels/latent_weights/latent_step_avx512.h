// One step of a row of latent weights of 4, 8 or 16 bits, 16 at a time.
#pragma once
#include <immintrin.h>

#include "kernels/latent_weights/latent_step.h"

namespace bitreplay {

constexpr __mmask16 kAll16 = 0xFFFF;

// 16 latent weights of one width as 32-bit lanes.
static inline __m512i load_latent(const int8_t* from, __mmask16 mask) {
  return _mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(mask, from));
}
static inline __m512i load_latent(const int16_t* from, __mmask16 mask) {
  return _mm512_cvtepi16_epi32(_mm256_maskz_loadu_epi16(mask, from));
}
// Masked stores are slow on some CPUs: only the end of a row takes one.
static inline void store_latent(int8_t* to, __mmask16 mask, __m512i x) {
  const __m128i narrow = _mm512_cvtsepi32_epi8(x);
  if (mask == kAll16) _mm_storeu_si128(reinterpret_cast<__m128i*>(to), narrow);
  else _mm_mask_storeu_epi8(to, mask, narrow);
}
static inline void store_latent(int16_t* to, __mmask16 mask, __m512i x) {
  const __m256i narrow = _mm512_cvtsepi32_epi16(x);
  if (mask == kAll16) _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), narrow);
  else _mm256_mask_storeu_epi16(to, mask, narrow);
}

// Two weights in a byte.
static inline __mmask16 byte_mask(__mmask16 mask) {
  return __mmask16((1u << ((__builtin_popcount(mask) + 1) / 2)) - 1);
}
static inline __m512i load_halves(const uint8_t* from, __mmask16 mask) {
  const __m128i stored = mask == kAll16 ? _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))
                                        : _mm_maskz_loadu_epi8(byte_mask(mask), from);
  const __m128i bytes = _mm_cvtepu8_epi16(stored);
  const __m128i halves = _mm_and_si128(_mm_or_si128(bytes, _mm_slli_epi16(bytes, 4)), _mm_set1_epi8(15));
  const __m512i eight = _mm512_set1_epi32(8);
  return _mm512_sub_epi32(_mm512_xor_si512(_mm512_cvtepu8_epi32(halves), eight), eight);
}
static inline void store_halves(uint8_t* to, __mmask16 mask, __m512i x) {
  x = _mm512_min_epi32(_mm512_max_epi32(x, _mm512_set1_epi32(-8)), _mm512_set1_epi32(7));
  const __m128i halves = _mm512_cvtepi32_epi8(_mm512_maskz_and_epi32(mask, x, _mm512_set1_epi32(15)));
  const __m128i pairs = _mm_maddubs_epi16(halves, _mm_set1_epi16(0x1001));  // even + 16 odd
  const __m128i bytes = _mm_packus_epi16(pairs, pairs);
  if (mask == kAll16) _mm_storel_epi64(reinterpret_cast<__m128i*>(to), bytes);
  else _mm_mask_storeu_epi8(to, byte_mask(mask), bytes);
}

// What the step takes from 16 weights: floor((sum * mantissa + random bits) / 2^shift). For a shift of 32 or more that
// is the upper half of floor(sum * mantissa / 2^(shift - 32)) + random, below 2^31; otherwise it is cut to 2^20.
class Change16 {
 public:
  Change16(const LatentUpdateArgs& a, const NarrowStep& step, uint32_t first)
      : large_(step.shift >= 32), mantissa_(_mm512_set1_epi64(step.mantissa)),
        shift_(_mm_cvtsi64_si128(large_ ? step.shift - 32 : step.shift)),
        random_down_(_mm_cvtsi64_si128(step.random_down)), key_high_(_mm512_set1_epi32(int32_t(a.step.key >> 32))) {
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i elements = _mm512_add_epi32(lanes, _mm512_set1_epi32(int32_t(first)));
    place_ = _mm512_add_epi32(_mm512_mullo_epi32(elements, _mm512_set1_epi32(int32_t(kElement))),
                              _mm512_set1_epi32(int32_t(a.step.key)));
  }

  bool large() const { return large_; }

  template <bool kLarge>
  __m512i next(__m512i sums) {
    const __m512i random = hash(), lower = _mm512_set1_epi64(0xFFFFFFFF);
    __m512i even = _mm512_mul_epi32(sums, mantissa_), odd = _mm512_mul_epi32(_mm512_srli_epi64(sums, 32), mantissa_);
    const __m512i random_even = _mm512_and_si512(random, lower), random_odd = _mm512_srli_epi64(random, 32);
    if (kLarge) {
      even = _mm512_add_epi64(_mm512_sra_epi64(even, shift_), random_even);
      odd = _mm512_add_epi64(_mm512_sra_epi64(odd, shift_), random_odd);
      return _mm512_mask_blend_epi32(0xAAAA, _mm512_srli_epi64(even, 32), odd);
    }
    even = cut(_mm512_sra_epi64(_mm512_add_epi64(even, _mm512_srl_epi64(random_even, random_down_)), shift_));
    odd = cut(_mm512_sra_epi64(_mm512_add_epi64(odd, _mm512_srl_epi64(random_odd, random_down_)), shift_));
    return _mm512_mask_blend_epi32(0xAAAA, even, _mm512_slli_epi64(odd, 32));
  }

 private:
  static constexpr uint32_t kElement = 0x9E3779B1u;

  // random_bits (counter.h); the next call is 16 elements further.
  __m512i hash() {
    __m512i x = place_;
    place_ = _mm512_add_epi32(place_, _mm512_set1_epi32(int32_t(16 * kElement)));
    x = _mm512_xor_si512(x, _mm512_srli_epi32(x, 16));
    x = _mm512_mullo_epi32(x, _mm512_set1_epi32(int32_t(0x85EBCA6Bu)));
    x = _mm512_ternarylogic_epi32(x, _mm512_srli_epi32(x, 13), key_high_, 0x96);  // exclusive or of three
    x = _mm512_mullo_epi32(x, _mm512_set1_epi32(int32_t(0xC2B2AE35u)));
    return _mm512_xor_si512(x, _mm512_srli_epi32(x, 16));
  }

  static __m512i cut(__m512i x) {
    const __m512i limit = _mm512_set1_epi64(1 << 20);
    return _mm512_max_epi64(_mm512_min_epi64(x, limit), _mm512_sub_epi64(_mm512_setzero_si512(), limit));
  }

  bool large_;
  __m512i mantissa_;
  __m128i shift_, random_down_;
  __m512i key_high_, place_;
};

// each(i, mask, change) for 16 weights from i on.
template <bool kLarge, class Each>
static inline void over_row(Change16 change, int64_t channels, const uint32_t* sums, Each each) {
  for (int64_t i = 0; i < channels; i += 16) {
    const __mmask16 mask = channels - i >= 16 ? kAll16 : __mmask16((1 << (channels - i)) - 1);
    each(i, mask, change.next<kLarge>(_mm512_load_si512(sums + i)));
  }
}

template <class T>
static inline auto stepper(T* latent) {
  return [=](int64_t i, __mmask16 mask, __m512i change) {
    store_latent(latent + i, mask, _mm512_sub_epi32(load_latent(latent + i, mask), change));
  };
}
static inline auto stepper_of_halves(uint8_t* latent) {
  return [=](int64_t i, __mmask16 mask, __m512i change) {
    store_halves(latent + i / 2, mask, _mm512_sub_epi32(load_halves(latent + i / 2, mask), change));
  };
}

static inline void step_row_avx512(const LatentUpdateArgs& a, int64_t row, const uint32_t* sums) {
  const NarrowStep narrow = narrow_step(a);
  if (!narrow.serves || a.bits == 32) return step_row(a, row, sums);
  const Change16 change(a, narrow, uint32_t(row * a.channels));
  const auto over = [&](auto each) {
    if (change.large()) over_row<true>(change, a.channels, sums, each);
    else over_row<false>(change, a.channels, sums, each);
  };
  if (a.bits == 4) over(stepper_of_halves(static_cast<uint8_t*>(a.latent) + row * ((a.channels + 1) / 2)));
  else if (a.bits == 8) over(stepper(static_cast<int8_t*>(a.latent) + row * a.channels));
  else over(stepper(static_cast<int16_t*>(a.latent) + row * a.channels));
}

}  // namespace bitreplay
