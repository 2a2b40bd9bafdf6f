// Eight outputs as two vectors of four words. Bits are counted by a table of 16 (vpshufb) into bytes, and the bytes are
// added up by vpsadbw before they overflow.
// Bound: eight operations for 256 products.
#include <immintrin.h>

#include "kernels/binary_conv_pixels.h"

namespace bitreplay {
namespace {

constexpr int64_t kWordsBeforeSum = 31;  // 31 * 8 < 256

struct Counts {
  __m256i sums[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};

  void run(const uint64_t* x, const uint64_t* w, int64_t length) {
    const __m256i low = _mm256_set1_epi8(15);
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2,
                                           3, 2, 3, 3, 4);
    for (int64_t start = 0; start < length; start += kWordsBeforeSum) {
      const int64_t end = length - start < kWordsBeforeSum ? length : start + kWordsBeforeSum;
      __m256i bytes[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
      for (int64_t i = start; i < end; ++i) {
        const __m256i pixel = _mm256_set1_epi64x(int64_t(x[i]));
        for (int half = 0; half < 2; ++half) {
          const __m256i weights = _mm256_load_si256(reinterpret_cast<const __m256i*>(w + kInterleaved * i + 4 * half));
          const __m256i v = _mm256_xor_si256(pixel, weights);
          const __m256i ones = _mm256_shuffle_epi8(table, _mm256_and_si256(v, low));
          const __m256i more = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(v, 4), low));
          bytes[half] = _mm256_add_epi8(bytes[half], _mm256_add_epi8(ones, more));
        }
      }
      for (int half = 0; half < 2; ++half)
        sums[half] = _mm256_add_epi64(sums[half], _mm256_sad_epu8(bytes[half], _mm256_setzero_si256()));
    }
  }

  void store(int64_t* found) const {
    for (int half = 0; half < 2; ++half)
      _mm256_store_si256(reinterpret_cast<__m256i*>(found + 4 * half), sums[half]);
  }
};

}  // namespace

void binary_conv_avx2(const BinaryConvArgs& a) { binary_conv_by_pixel<Counts>(a); }

}  // namespace bitreplay
