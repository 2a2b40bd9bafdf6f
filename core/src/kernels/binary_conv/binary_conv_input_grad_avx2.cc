// Tables of 16 bytes looked up by vpshufb, 32 channels at a time (nibble_tables.h).
#include <immintrin.h>

#include "kernels/binary_conv/nibble_tables.h"

namespace bitreplay {
namespace {

inline __m256i table_at(const uint8_t* table) {
  return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(table)));
}

// Sums of 16 bits: 64 blocks of at most 4 * 63 fit.
template <int kCount>
inline void look_up(const uint8_t* tables, const uint8_t* weights, int64_t blocks, uint32_t (*digits)[kNibbleChannels]) {
  const __m256i low = _mm256_set1_epi8(15), bytes = _mm256_set1_epi16(255);
  __m256i even[kCount], odd[kCount];
  for (int d = 0; d < kCount; ++d) even[d] = odd[d] = _mm256_setzero_si256();
  for (int64_t block = 0; block < blocks; ++block, weights += kNibbleBlockBytes, tables += 4 * kCount * 16) {
    const __m256i first = _mm256_load_si256(reinterpret_cast<const __m256i*>(weights));
    const __m256i second = _mm256_load_si256(reinterpret_cast<const __m256i*>(weights + 32));
    const __m256i nibbles[4] = {_mm256_and_si256(first, low), _mm256_and_si256(_mm256_srli_epi16(first, 4), low),
                                _mm256_and_si256(second, low), _mm256_and_si256(_mm256_srli_epi16(second, 4), low)};
    for (int d = 0; d < kCount; ++d) {
      __m256i sum = _mm256_shuffle_epi8(table_at(tables + 16 * d), nibbles[0]);
      for (int n = 1; n < 4; ++n)
        sum = _mm256_add_epi8(sum, _mm256_shuffle_epi8(table_at(tables + (n * kCount + d) * 16), nibbles[n]));
      even[d] = _mm256_add_epi16(even[d], _mm256_and_si256(sum, bytes));
      odd[d] = _mm256_add_epi16(odd[d], _mm256_srli_epi16(sum, 8));
    }
  }
  for (int d = 0; d < kCount; ++d) {
    // Words 0-3 and 8-11 of `even` and `odd` interleave to channels 0-7 and 16-23, the others to 8-15 and 24-31.
    const __m256i front = _mm256_unpacklo_epi16(even[d], odd[d]), back = _mm256_unpackhi_epi16(even[d], odd[d]);
    const __m128i words[4] = {_mm256_castsi256_si128(front), _mm256_castsi256_si128(back),
                              _mm256_extracti128_si256(front, 1), _mm256_extracti128_si256(back, 1)};
    for (int k = 0; k < 4; ++k)
      _mm256_store_si256(reinterpret_cast<__m256i*>(digits[d] + 8 * k), _mm256_cvtepu16_epi32(words[k]));
  }
}

uint64_t derived_bytes(const BinaryConvInputGradArgs& a) {
  return nibbles_serve(a) ? nibble_derived_bytes(a) : kBinaryConvInputGradScalar.derived_bytes(a);
}

void derive(const BinaryConvInputGradArgs& a, uint8_t* derived) {
  if (nibbles_serve(a)) return nibble_derive(a, derived);
  kBinaryConvInputGradScalar.derive(a, derived);
}

void run(const BinaryConvInputGradArgs& a) {
  if (!nibbles_serve(a)) return kBinaryConvInputGradScalar.run(a);
  if (a.g_type == BR_INT8) return nibble_run<int8_t>(a, look_up<2>);
  nibble_run<int16_t>(a, look_up<3>);
}

}  // namespace

extern const BinaryConvInputGrad kBinaryConvInputGradAvx2 = {derived_bytes, derive, run};

}  // namespace bitreplay
