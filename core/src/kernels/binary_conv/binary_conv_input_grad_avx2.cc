// Tables of 16 bytes looked up by vpshufb, 32 channels at a time (nibble_tables.h).
#include <immintrin.h>

#include "kernels/binary_conv/nibble_tables.h"

namespace bitreplay {
namespace {

inline __m256i table_at(const uint8_t* table) {
  return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(table)));
}

// Sums of 16 bits: 64 blocks of at most 4 * 63 fit. Bytes are gathered by two additions: `all` adds 16-bit lanes as they
// are, modulo 2^16, and `odd` their upper bytes, so that the sum of the lower bytes is all - 256 odd.
template <int kCount>
struct LookUp {
  static inline void run(const uint8_t* tables, const uint8_t* weights, int64_t blocks, uint32_t correction,
                         uint32_t* to) {
    const __m256i low = _mm256_set1_epi8(15);
    __m256i all[kCount], odd[kCount];
    for (int d = 0; d < kCount; ++d) all[d] = odd[d] = _mm256_setzero_si256();
    for (int64_t block = 0; block < blocks; ++block, weights += kNibbleBlockBytes, tables += 4 * kCount * 16) {
      const __m256i first = _mm256_load_si256(reinterpret_cast<const __m256i*>(weights));
      const __m256i second = _mm256_load_si256(reinterpret_cast<const __m256i*>(weights + 32));
      const __m256i nibbles[4] = {_mm256_and_si256(first, low), _mm256_and_si256(_mm256_srli_epi16(first, 4), low),
                                  _mm256_and_si256(second, low), _mm256_and_si256(_mm256_srli_epi16(second, 4), low)};
      for (int d = 0; d < kCount; ++d) {
        __m256i sum = _mm256_shuffle_epi8(table_at(tables + 64 * d), nibbles[0]);
        for (int n = 1; n < 4; ++n)
          sum = _mm256_add_epi8(sum, _mm256_shuffle_epi8(table_at(tables + 64 * d + 16 * n), nibbles[n]));
        all[d] = _mm256_add_epi16(all[d], sum);
        odd[d] = _mm256_add_epi16(odd[d], _mm256_srli_epi16(sum, 8));
      }
    }
    for (int k = 0; k < 4; ++k) {
      __m256i sum = _mm256_setzero_si256();
      for (int d = kCount - 1; d >= 0; --d) {
        // Words 0-3 and 8-11 of even and odd bytes interleave to channels 0-7 and 16-23, the others to 8-15 and 24-31.
        const __m256i even = _mm256_sub_epi16(all[d], _mm256_slli_epi16(odd[d], 8));
        const __m256i both = k % 2 ? _mm256_unpackhi_epi16(even, odd[d]) : _mm256_unpacklo_epi16(even, odd[d]);
        const __m128i words = k / 2 ? _mm256_extracti128_si256(both, 1) : _mm256_castsi256_si128(both);
        sum = _mm256_add_epi32(_mm256_slli_epi32(sum, 6), _mm256_cvtepu16_epi32(words));
      }
      __m256i* at = reinterpret_cast<__m256i*>(to + 8 * k);
      const __m256i change = _mm256_sub_epi32(_mm256_add_epi32(sum, sum), _mm256_set1_epi32(int32_t(correction)));
      _mm256_storeu_si256(at, _mm256_add_epi32(_mm256_loadu_si256(at), change));
    }
  }
};

inline __m256i broadcast2(const int16_t* g) {
  int32_t both;
  __builtin_memcpy(&both, g, sizeof both);
  return _mm256_set1_epi32(both);
}

// Tables of `nibbles` times four gradients: entries 0-7 and 8-15 as 32-bit sums, whose digits are packed to bytes.
template <int kCount>
struct Build {
  static inline void run(const int16_t* g, int64_t nibbles, int32_t bias, uint8_t* tables) {
    const int32_t first = 1, second = 1 << 16, both = first | second;
    const __m256i bits01 = _mm256_setr_epi32(0, first, second, both, 0, first, second, both);
    const __m256i bits23[2] = {_mm256_setr_epi32(0, 0, 0, 0, first, first, first, first),
                               _mm256_setr_epi32(second, second, second, second, both, both, both, both)};
    const __m256i digit = _mm256_set1_epi32(63), start = _mm256_set1_epi32(bias);
    for (int64_t nibble = 0; nibble < nibbles; ++nibble, g += 4) {
      const __m256i g23 = broadcast2(g + 2), low = _mm256_add_epi32(start, _mm256_madd_epi16(bits01, broadcast2(g)));
      __m256i sums[2];
      for (int k = 0; k < 2; ++k) sums[k] = _mm256_add_epi32(low, _mm256_madd_epi16(bits23[k], g23));
      for (int d = 0; d < kCount; ++d) {
        const __m256i a = _mm256_and_si256(_mm256_srli_epi32(sums[0], 6 * d), digit);
        const __m256i b = _mm256_and_si256(_mm256_srli_epi32(sums[1], 6 * d), digit);
        const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xD8);
        _mm_store_si128(reinterpret_cast<__m128i*>(tables + nibble_table<kCount>(nibble) + 64 * d),
                        _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
      }
    }
  }
};

}  // namespace

extern const BinaryConvInputGrad kBinaryConvInputGradAvx2 = Nibbles<LookUp, Build>::kKernel;

}  // namespace bitreplay
