// Eight outputs as two vectors of four words. Bits are counted by a table of 16 (vpshufb) into bytes, and the bytes are
// added up by vpsadbw before they overflow.
// Bound: eight operations for 256 products.
// The walk over pixels and taps is that of binary_conv_neon.cc. Shared as a template it took NEON 7 % more instructions, so
// that each keeps its own.
#include <immintrin.h>

#include "kernels/binary_conv/binary_conv.h"
#include "arithmetic/sliding_window.h"

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
};

}  // namespace

void binary_conv_avx2(const BinaryConvArgs& a) {
  const int64_t block_words = a.kernel * a.kernel * a.words * kInterleaved, pixels = a.out_h * a.out_w;
  const int64_t blocks = (a.outputs + kInterleaved - 1) / kInterleaved;
  const uint64_t* ones = a.w + blocks * block_words;
  for (int64_t block = 0; block < blocks; ++block) {
    const uint64_t* w = a.w + block * block_words;
    for (int64_t p = 0; p < a.samples * pixels; ++p) {
      const int64_t out_row = p % pixels / a.out_w, out_column = p % a.out_w;
      const TapRange rows = taps_inside(out_row, a.stride, a.pad, a.kernel, a.height);
      const TapRange columns = taps_inside(out_column, a.stride, a.pad, a.kernel, a.width);
      const uint64_t* x = a.x + p / pixels * a.height * a.width * a.words;
      const int64_t side_by_side = columns.last - columns.first;
      Counts counts;
      for (int64_t row = rows.first; row < rows.last; ++row) {
        const int64_t y = out_row * a.stride + row - a.pad, left = out_column * a.stride + columns.first - a.pad;
        counts.run(x + (y * a.width + left) * a.words, w + (row * a.kernel + columns.first) * a.words * kInterleaved,
                   side_by_side * a.words);
      }
      int64_t taps = (rows.last - rows.first) * side_by_side;
      if (a.padding && taps < a.kernel * a.kernel) {
        for (int64_t tap = 0; tap < a.kernel * a.kernel; ++tap) {
          const int64_t r = tap / a.kernel, c = tap % a.kernel;
          if (rows.first <= r && r < rows.last && columns.first <= c && c < columns.last) continue;
          counts.run(ones, w + tap * a.words * kInterleaved, a.words);
        }
        taps = a.kernel * a.kernel;
      }
      alignas(32) int64_t found[kInterleaved];
      for (int half = 0; half < 2; ++half)
        _mm256_store_si256(reinterpret_cast<__m256i*>(found + 4 * half), counts.sums[half]);
      int16_t* sums = a.sums + p * a.outputs + block * kInterleaved;
      const int64_t left = a.outputs - block * kInterleaved, lanes = left < kInterleaved ? left : kInterleaved;
      for (int64_t lane = 0; lane < lanes; ++lane) sums[lane] = int16_t(taps * a.channels - 2 * found[lane]);
    }
  }
}

}  // namespace bitreplay
