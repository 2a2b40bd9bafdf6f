// The 16 subset sums of four gradients of 16 bits, above the least of them: 0 to the sum of |g|.
#pragma once
#include <immintrin.h>

#include <cstdint>

namespace bitreplay {
namespace {

inline __m256i broadcast2(const int16_t* g) {
  int32_t both;
  __builtin_memcpy(&both, g, sizeof both);
  return _mm256_set1_epi32(both);
}

// Entries 0-3 and 8-11, then 4-7 and 12-15.
inline void subset_sums(const int16_t* g, __m256i sums[2]) {
  const __m256i zero = _mm256_setzero_si256(), minus = _mm256_set1_epi16(-1);
  const __m256i g01 = broadcast2(g), g23 = broadcast2(g + 2);
  // Nothing set: what the negative ones would take away.
  const __m256i none = _mm256_add_epi32(_mm256_madd_epi16(minus, _mm256_min_epi16(g01, zero)),
                                        _mm256_madd_epi16(minus, _mm256_min_epi16(g23, zero)));
  const int32_t first = 1, second = 1 << 16, both = first | second;
  const __m256i bits01 = _mm256_setr_epi32(0, first, second, both, 0, first, second, both);
  const __m256i low = _mm256_add_epi32(none, _mm256_madd_epi16(bits01, g01));
  const __m256i bits23[2] = {_mm256_setr_epi32(0, 0, 0, 0, second, second, second, second),
                             _mm256_setr_epi32(first, first, first, first, both, both, both, both)};
  for (int k = 0; k < 2; ++k) sums[k] = _mm256_add_epi32(low, _mm256_madd_epi16(bits23[k], g23));
}

// One digit of the sums of two times four gradients: two tables of 16 bytes side by side.
inline __m256i digit_tables(const __m256i sums[2][2], int down, int32_t mask) {
  const __m256i digit = _mm256_set1_epi32(mask);
  __m256i words[2];
  for (int n = 0; n < 2; ++n) {
    const __m256i first = _mm256_and_si256(_mm256_srli_epi32(sums[n][0], down), digit);
    const __m256i second = _mm256_and_si256(_mm256_srli_epi32(sums[n][1], down), digit);
    words[n] = _mm256_packs_epi32(first, second);  // entries 0-7 and 8-15
  }
  return _mm256_permute4x64_epi64(_mm256_packus_epi16(words[0], words[1]), 0xD8);
}

}  // namespace
}  // namespace bitreplay
