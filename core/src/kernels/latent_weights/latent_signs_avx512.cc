// latent_signs (kernels/latent_weights/latent_update.h): sign bits gathered into masks.
#include <immintrin.h>

#include "kernels/latent_weights/latent_step.h"

namespace bitreplay {
namespace {

// The signs of up to 64 weights from `at` on.
inline uint64_t not_negative(const int8_t* at, __mmask64 mask) {
  return _knot_mask64(_mm512_movepi8_mask(_mm512_maskz_loadu_epi8(mask, at))) & mask;
}
inline uint64_t not_negative(const int16_t* at, __mmask64 mask) {
  const uint64_t low = _mm512_movepi16_mask(_mm512_maskz_loadu_epi16(__mmask32(mask), at));
  const uint64_t high = _mm512_movepi16_mask(_mm512_maskz_loadu_epi16(__mmask32(mask >> 32), at + 32));
  return ~(low | high << 32) & mask;
}
inline uint64_t not_negative(const int32_t* at, __mmask64 mask) {
  uint64_t negative = 0;
  for (int k = 0; k < 64; k += 16)
    negative |= uint64_t(_mm512_movepi32_mask(_mm512_maskz_loadu_epi32(__mmask16(mask >> k), at + k))) << k;
  return ~negative & mask;
}

template <class T>
void signs_as(const LatentSignsArgs& a) {
  for (int64_t row = 0; row < a.rows; ++row) {
    const T* latent = static_cast<const T*>(a.latent) + row * a.channels;
    for (int64_t word = 0; word < a.words; ++word) {
      const int64_t lanes = min_of(kWord, a.channels - word * kWord);
      a.w[row * a.words + word] = not_negative(latent + word * kWord, ~uint64_t(0) >> (kWord - lanes));
    }
  }
}

}  // namespace

void latent_signs_avx512(const LatentSignsArgs& a) {
  if (a.bits == 8) return signs_as<int8_t>(a);
  if (a.bits == 16) return signs_as<int16_t>(a);
  if (a.bits == 32) return signs_as<int32_t>(a);
  signs_bits(a);
}

}  // namespace bitreplay
