// Eight outputs as two vectors of four words, four words of a pixel at a time.
//
// Four words and what is left of those before are added by carry-save addition: `ones` and `twos` hold the bits of weight
// 1 and 2 that are still open in every place, and the bits of weight 4 are counted by a table of 16 (vpshufb) into bytes.
// The bytes are added up by vpsadbw before they overflow.
// Bound: 26 operations for four times 256 products: 4 exclusive ors, 3 additions of 5, a count of 7.
// The walk over pixels and taps is that of binary_conv_neon.cc. Shared as a template it took NEON 7 % more instructions, so
// that each keeps its own.
#include <immintrin.h>

#include "kernels/binary_conv/binary_conv.h"
#include "arithmetic/sliding_window.h"

namespace bitreplay {
namespace {

#define INLINE __attribute__((always_inline)) inline

constexpr int64_t kMostTaps = 9;
constexpr int64_t kLongWords = 2;     // words of a pixel from which carry-save addition pays

inline int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }

// A word of the pixel against four outputs.
INLINE __m256i unequal(const uint64_t* x, const uint64_t* w) {
  return _mm256_xor_si256(_mm256_set1_epi64x(int64_t(*x)), _mm256_load_si256(reinterpret_cast<const __m256i*>(w)));
}

// Bits of each byte.
INLINE __m256i count_bytes(__m256i v) {
  const __m256i low = _mm256_set1_epi8(15);
  const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2,
                                         3, 2, 3, 3, 4);
  return _mm256_add_epi8(_mm256_shuffle_epi8(table, _mm256_and_si256(v, low)),
                         _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(v, 4), low)));
}

// a + b + c = 2 (what is returned) + sum, in every place.
INLINE __m256i add_bits(__m256i a, __m256i b, __m256i c, __m256i& sum) {
  const __m256i odd = _mm256_xor_si256(a, b);
  sum = _mm256_xor_si256(odd, c);
  return _mm256_or_si256(_mm256_and_si256(a, b), _mm256_and_si256(odd, c));
}

// Counts of unequal signs of four and four outputs, 64 bits each.
struct Counts {
  __m256i a = _mm256_setzero_si256(), b = _mm256_setzero_si256();

  INLINE void add(const Counts& more) {
    a = _mm256_add_epi64(a, more.a);
    b = _mm256_add_epi64(b, more.b);
  }

  // total - 2 count of the outputs that there are. Counts have 15 bits.
  INLINE void store(int64_t total, int16_t* to, int64_t outputs) const {
    const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
    const __m256i counts = _mm256_permutevar8x32_epi32(_mm256_or_si256(a, _mm256_slli_epi64(b, 32)), order);
    const __m128i narrow = _mm_packus_epi32(_mm256_castsi256_si128(counts), _mm256_extracti128_si256(counts, 1));
    const __m128i found = _mm_sub_epi16(_mm_set1_epi16(int16_t(total)), _mm_add_epi16(narrow, narrow));
    if (outputs >= kInterleaved) return _mm_storeu_si128(reinterpret_cast<__m128i*>(to), found);
    alignas(16) int16_t all[kInterleaved];
    _mm_store_si128(reinterpret_cast<__m128i*>(all), found);
    for (int64_t lane = 0; lane < outputs; ++lane) to[lane] = all[lane];
  }
};

// Four outputs, word by word: bytes of counts.
struct Plain {
  __m256i bytes = _mm256_setzero_si256();

  INLINE void add4(const uint64_t* x, const uint64_t* w) {
    for (int k = 0; k < 4; ++k) add1(x + k, w + kInterleaved * k);
  }
  INLINE void add1(const uint64_t* x, const uint64_t* w) { bytes = _mm256_add_epi8(bytes, count_bytes(unequal(x, w))); }
  INLINE __m256i take() {
    const __m256i sum = _mm256_sad_epu8(bytes, _mm256_setzero_si256());
    bytes = _mm256_setzero_si256();
    return sum;
  }
  INLINE __m256i rest() { return take(); }
  static constexpr int64_t kMostWords = 31;  // 31 * 8 < 256
  static constexpr bool kTakesFour = false;
};

// Four outputs by carry-save addition; `fours` are bytes in units of 4.
struct Carried {
  __m256i ones = _mm256_setzero_si256(), twos = _mm256_setzero_si256(), fours = _mm256_setzero_si256();

  INLINE void add4(const uint64_t* x, const uint64_t* w) {
    const __m256i first = add_bits(ones, unequal(x, w), unequal(x + 1, w + kInterleaved), ones);
    const __m256i second = add_bits(ones, unequal(x + 2, w + 2 * kInterleaved), unequal(x + 3, w + 3 * kInterleaved), ones);
    fours = _mm256_add_epi8(fours, count_bytes(add_bits(twos, first, second, twos)));
  }
  INLINE void add1(const uint64_t* x, const uint64_t* w) {
    const __m256i v = unequal(x, w), two = _mm256_and_si256(ones, v);
    ones = _mm256_xor_si256(ones, v);
    fours = _mm256_add_epi8(fours, count_bytes(_mm256_and_si256(twos, two)));
    twos = _mm256_xor_si256(twos, two);
  }
  INLINE __m256i take() {
    const __m256i sum = _mm256_slli_epi64(_mm256_sad_epu8(fours, _mm256_setzero_si256()), 2);
    fours = _mm256_setzero_si256();
    return sum;
  }
  INLINE __m256i rest() {
    const __m256i two = count_bytes(twos), open = _mm256_add_epi8(_mm256_add_epi8(two, two), count_bytes(ones));
    return _mm256_add_epi64(take(), _mm256_sad_epu8(open, _mm256_setzero_si256()));
  }
  static constexpr int64_t kMostWords = 31;  // as many counts of up to 8
  static constexpr bool kTakesFour = true;   // one count for four words
};

// `rows` runs of `length` words; the next run is `x_step` and `w_step` words further.
template <class Adder>
INLINE Counts count(const uint64_t* x, int64_t x_step, const uint64_t* w, int64_t w_step, int64_t rows, int64_t length) {
  Counts counts;
  Adder a, b;
  int64_t room = Adder::kMostWords;
  for (int64_t row = 0; row < rows; ++row, x += x_step, w += w_step) {
    int64_t i = 0;
    while (i < length) {
      if (room < 4) {
        counts.add({a.take(), b.take()});
        room = Adder::kMostWords;
      }
      const int64_t fours = least_of((length - i) / 4, Adder::kTakesFour ? room : room / 4);
      for (int64_t k = 0; k < fours; ++k, i += 4) {
        a.add4(x + i, w + kInterleaved * i);
        b.add4(x + i, w + kInterleaved * i + 4);
      }
      room -= Adder::kTakesFour ? fours : 4 * fours;
      if (length - i >= 4) continue;
      if (room < 3) {
        counts.add({a.take(), b.take()});
        room = Adder::kMostWords;
      }
      room -= length - i;
      for (; i < length; ++i) {
        a.add1(x + i, w + kInterleaved * i);
        b.add1(x + i, w + kInterleaved * i + 4);
      }
    }
  }
  counts.add({a.rest(), b.rest()});
  return counts;
}

// kWords > 0: windows of 3 x 3 of so many words a pixel that lie inside have constant sizes, so that loops are unrolled.
// One block of eight outputs over all places. Taps outside the map that read +1 are counted once, each for itself.
template <class Adder, int kWords>
void block_of(const BinaryConvArgs& a, const uint64_t* w, const uint64_t* ones, int16_t* sums, int64_t outputs) {
  const int64_t all = a.kernel * a.kernel, tap_words = a.words * kInterleaved;
  Counts outside[kMostTaps];
  const bool padded = a.padding && a.pad > 0, known = padded && all <= kMostTaps;
  for (int64_t tap = 0; known && tap < all; ++tap)
    outside[tap] = count<Adder>(ones, 0, w + tap * tap_words, 0, 1, a.words);
  for (int64_t n = 0; n < a.samples; ++n) {
    const uint64_t* x = a.x + n * a.height * a.width * a.words;
    for (int64_t out_row = 0; out_row < a.out_h; ++out_row) {
      const TapRange rows = taps_inside(out_row, a.stride, a.pad, a.kernel, a.height);
      const int64_t top = out_row * a.stride + rows.first - a.pad;
      for (int64_t out_column = 0; out_column < a.out_w; ++out_column, sums += a.outputs) {
        const TapRange columns = taps_inside(out_column, a.stride, a.pad, a.kernel, a.width);
        const int64_t side_by_side = columns.last - columns.first, left = out_column * a.stride + columns.first - a.pad;
        int64_t taps = (rows.last - rows.first) * side_by_side;
        const uint64_t* from = x + (top * a.width + left) * a.words;
        if (kWords > 0 && taps == all) {
          const int64_t row_words = 3 * kWords;
          count<Adder>(from, a.width * kWords, w, row_words * kInterleaved, 3, row_words)
              .store(taps * a.channels, sums, outputs);
          continue;
        }
        Counts counts = count<Adder>(from, a.width * a.words, w + (rows.first * a.kernel + columns.first) * tap_words,
                                     a.kernel * tap_words, rows.last - rows.first, side_by_side * a.words);
        if (padded && taps < all) {
          for (int64_t tap = 0; tap < all; ++tap) {
            const int64_t r = tap / a.kernel, c = tap % a.kernel;
            if (rows.first <= r && r < rows.last && columns.first <= c && c < columns.last) continue;
            counts.add(known ? outside[tap] : count<Adder>(ones, 0, w + tap * tap_words, 0, 1, a.words));
          }
          taps = all;
        }
        counts.store(taps * a.channels, sums, outputs);
      }
    }
  }
}

using Block = void(const BinaryConvArgs&, const uint64_t*, const uint64_t*, int16_t*, int64_t);

Block* block_for(const BinaryConvArgs& a) {
  const int64_t words = a.kernel == 3 ? a.words : 0;
  if (words == 1) return block_of<Plain, 1>;
  if (words == 2) return block_of<Carried, 2>;
  if (words == 4) return block_of<Carried, 4>;
  if (words == 8) return block_of<Carried, 8>;
  return a.words >= kLongWords ? block_of<Carried, 0> : block_of<Plain, 0>;
}

}  // namespace

void binary_conv_avx2(const BinaryConvArgs& a) {
  const int64_t block_words = a.kernel * a.kernel * a.words * kInterleaved;
  const int64_t blocks = (a.outputs + kInterleaved - 1) / kInterleaved;
  Block* run = block_for(a);
  for (int64_t block = 0; block < blocks; ++block)
    run(a, a.w + block * block_words, a.w + blocks * block_words, a.sums + block * kInterleaved,
        a.outputs - block * kInterleaved);
}

}  // namespace bitreplay
