// Tables of 16 bytes looked up by vpshufb, 32 outputs at a time (nibble_pairs.h).
//
// Three look-ups (at most 12 in a nibble) are added before the nibbles of the two pixels are parted: `all` adds bytes
// as they are, modulo 256, and `high` their upper nibbles, so that the sum of the lower ones is all - 16 high.
// Bound: 9 operations for 768 products, and 4.5 to cut the weights of eight pixels: 40.5 for 3,072.
#include <immintrin.h>

#include "kernels/binary_conv/nibble_pairs.h"

namespace bitreplay {
namespace {

#define INLINE __attribute__((always_inline)) inline
// Sums stay in the order in which they are written: in another one, 16 registers do not suffice.
#define IN_ORDER(sum) __asm__("" : "+x"(sum))

INLINE __m256i table(uint16_t index) {
  return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(pair_table(index))));
}
INLINE __m256i load(const uint8_t* from) { return _mm256_load_si256(reinterpret_cast<const __m256i*>(from)); }
INLINE __m256i upper(__m256i bytes, __m256i mask) { return _mm256_and_si256(_mm256_srli_epi16(bytes, 4), mask); }

// Bytes of counts of two pixels.
struct Pair {
  __m256i all, high;

  INLINE void part(__m256i sum, __m256i mask) {
    all = _mm256_add_epi8(all, sum);
    IN_ORDER(all);
    high = _mm256_add_epi8(high, upper(sum, mask));
    IN_ORDER(high);
  }
  INLINE void add3(const uint16_t* index, __m256i a, __m256i b, __m256i c, __m256i mask) {
    const __m256i two =
        _mm256_add_epi8(_mm256_shuffle_epi8(table(index[0]), a), _mm256_shuffle_epi8(table(index[1]), b));
    part(_mm256_add_epi8(two, _mm256_shuffle_epi8(table(index[2]), c)), mask);
  }
  INLINE void add2(const uint16_t* index, __m256i a, __m256i b, __m256i mask) {
    part(_mm256_add_epi8(_mm256_shuffle_epi8(table(index[0]), a), _mm256_shuffle_epi8(table(index[1]), b)), mask);
  }
};

// Of one pixel, 16 bits: `all` adds words of two bytes as they are, modulo 2^16, and `odd` the upper bytes.
struct Words {
  __m256i all = _mm256_setzero_si256(), odd = _mm256_setzero_si256();

  INLINE void add(__m256i bytes) {
    all = _mm256_add_epi16(all, bytes);
    odd = _mm256_add_epi16(odd, _mm256_srli_epi16(bytes, 8));
  }
};

struct Avx2 {
  static constexpr int64_t kOutputs = 32;

  template <int kPairs>
  struct Counts {
    Words words[2 * kPairs];

    // A function of its own: what is around it would take registers from it.
    __attribute__((noinline)) void add(const uint16_t* index, int64_t pitch, const uint8_t* w, int64_t bytes) {
      const __m256i mask = _mm256_set1_epi8(15);
      Pair pairs[kPairs];
#pragma GCC unroll 4
      for (int p = 0; p < kPairs; ++p) pairs[p].all = pairs[p].high = _mm256_setzero_si256();
      for (; bytes >= 3; bytes -= 3, w += 3 * kOutputs, index += 6) {
        const __m256i first = load(w), second = load(w + kOutputs), third = load(w + 2 * kOutputs);
        const __m256i a = _mm256_and_si256(first, mask), b = upper(first, mask), c = _mm256_and_si256(second, mask);
#pragma GCC unroll 4
        for (int p = 0; p < kPairs; ++p) pairs[p].add3(index + p * pitch, a, b, c, mask);
        const __m256i d = upper(second, mask), e = _mm256_and_si256(third, mask), f = upper(third, mask);
#pragma GCC unroll 4
        for (int p = 0; p < kPairs; ++p) pairs[p].add3(index + p * pitch + 3, d, e, f, mask);
      }
      for (; bytes > 0; --bytes, w += kOutputs, index += 2) {
        const __m256i first = load(w), a = _mm256_and_si256(first, mask), b = upper(first, mask);
#pragma GCC unroll 4
        for (int p = 0; p < kPairs; ++p) pairs[p].add2(index + p * pitch, a, b, mask);
      }
#pragma GCC unroll 4
      for (int p = 0; p < kPairs; ++p) {
        const __m256i high = pairs[p].high;
        const __m256i sixteenfold = _mm256_and_si256(_mm256_slli_epi16(high, 4), _mm256_set1_epi8(-16));
        words[2 * p].add(_mm256_sub_epi8(pairs[p].all, sixteenfold));
        words[2 * p + 1].add(high);
      }
    }

    INLINE void store(int64_t pair, int64_t half, int64_t total, const int16_t* added, int16_t* to,
                      int64_t outputs) const {
      const Words& own = words[2 * pair + half];
      const __m256i odd = own.odd, even = _mm256_sub_epi16(own.all, _mm256_slli_epi16(odd, 8));
      const __m256i low = _mm256_unpacklo_epi16(even, odd), high = _mm256_unpackhi_epi16(even, odd);
      const __m256i counts[2] = {_mm256_permute2x128_si256(low, high, 0x20),
                                 _mm256_permute2x128_si256(low, high, 0x31)};
      alignas(32) int16_t some[kOutputs];
      int16_t* row = outputs < kOutputs ? some : to;
      for (int part = 0; part < 2; ++part) {
        const __m256i twice = _mm256_add_epi16(counts[part], counts[part]);
        __m256i sum = _mm256_sub_epi16(_mm256_set1_epi16(int16_t(total)), twice);
        if (added) sum = _mm256_add_epi16(sum, _mm256_load_si256(reinterpret_cast<const __m256i*>(added) + part));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(row) + part, sum);
      }
      for (int64_t o = 0; row != to && o < outputs; ++o) to[o] = some[o];
    }
  };

  // The nibbles of a word as 16 numbers.
  static INLINE __m256i nibbles(const uint64_t* x, int64_t word) {
    if (!x) return _mm256_set1_epi16(kOutside);
    const __m256i bytes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(x + word)));
    return _mm256_and_si256(_mm256_or_si256(bytes, _mm256_slli_epi32(bytes, 12)), _mm256_set1_epi32(0x000F000F));
  }

  // 2 (a + 17 b).
  static INLINE void index(const uint64_t* first, const uint64_t* second, int64_t words, uint16_t* to) {
    for (int64_t word = 0; word < words; ++word) {
      const __m256i a = nibbles(first, word), b = nibbles(second, word);
      const __m256i twice = _mm256_slli_epi16(_mm256_add_epi16(a, b), 1);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 16 * word), _mm256_add_epi16(twice, _mm256_slli_epi16(b, 5)));
    }
  }

  // Outputs k and 16 + k in the two halves of a vector, which are transposed alike: in each of four rounds rows that
  // are half as far apart as in the round before are interleaved.
  static INLINE void transpose(const uint64_t* rows, int64_t apart, int64_t there, uint8_t* to) {
    __m256i v[16];
    for (int64_t k = 0; k < 16; ++k)
      v[k] = _mm256_setr_epi64x(k < there ? int64_t(rows[k * apart]) : 0, 0,
                                k + 16 < there ? int64_t(rows[(k + 16) * apart]) : 0, 0);
    __m256i a[8], b[8], c[8];
    for (int k = 0; k < 8; ++k) a[k] = _mm256_unpacklo_epi8(v[k], v[k + 8]);
    for (int k = 0; k < 4; ++k) {
      b[k] = _mm256_unpacklo_epi8(a[k], a[k + 4]);      // bytes 0-3
      b[k + 4] = _mm256_unpackhi_epi8(a[k], a[k + 4]);  // bytes 4-7
    }
    for (int k = 0; k < 2; ++k) {
      for (int half = 0; half < 2; ++half) {
        c[4 * half + k] = _mm256_unpacklo_epi8(b[4 * half + k], b[4 * half + k + 2]);
        c[4 * half + 2 + k] = _mm256_unpackhi_epi8(b[4 * half + k], b[4 * half + k + 2]);
      }
    }
    for (int pair = 0; pair < 4; ++pair) {
      __m256i* at = reinterpret_cast<__m256i*>(to) + 2 * pair;
      _mm256_store_si256(at, _mm256_unpacklo_epi8(c[2 * pair], c[2 * pair + 1]));
      _mm256_store_si256(at + 1, _mm256_unpackhi_epi8(c[2 * pair], c[2 * pair + 1]));
    }
  }
};

}  // namespace

extern const BinaryConv kBinaryConvAvx2 = PairKernel<Avx2>::kKernel;

}  // namespace bitreplay
