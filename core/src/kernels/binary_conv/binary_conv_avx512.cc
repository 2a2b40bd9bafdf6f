// 32 outputs of four places at a time: a word of each place's pixel is broadcast, four vectors of eight outputs are
// xored with it and counted by vpopcntq. Taps that lie side by side in a row of the map are one run of words; the
// places need the same taps, so that they read the same weights.
// Bound: three operations for 512 products. Taps outside the map take none (outside_taps.h).
#include <immintrin.h>

#include "kernels/binary_conv/outside_taps.h"

namespace bitreplay {
namespace {

#define INLINE __attribute__((always_inline))
// Sums stay in the order in which they are written, each in its register.
#define IN_ORDER(sum) __asm__("" : "+v"(sum))

template <int kBlocks, int kPlaces>
struct Counts {
  __m512i sums[kPlaces][kBlocks];

  INLINE Counts() {
#pragma GCC unroll 4
    for (int s = 0; s < kPlaces; ++s)
#pragma GCC unroll 4
      for (int b = 0; b < kBlocks; ++b) sums[s][b] = _mm512_setzero_si512();
  }

  // A word of each place; the places' words lie `apart` words from one another.
  INLINE void word(const uint64_t* x, int64_t apart, const uint64_t* w, int64_t block_words) {
    __m512i pixels[kPlaces];
#pragma GCC unroll 4
    for (int s = 0; s < kPlaces; ++s) pixels[s] = _mm512_set1_epi64(int64_t(x[s * apart]));
#pragma GCC unroll 4
    for (int b = 0; b < kBlocks; ++b) {
      const __m512i weights = _mm512_load_si512(w + b * block_words);
#pragma GCC unroll 4
      for (int s = 0; s < kPlaces; ++s) {
        sums[s][b] = _mm512_add_epi64(sums[s][b], _mm512_popcnt_epi64(_mm512_xor_si512(pixels[s], weights)));
        IN_ORDER(sums[s][b]);
      }
    }
  }

  INLINE void run(const uint64_t* x, int64_t apart, const uint64_t* w, int64_t block_words, int64_t length) {
    for (int64_t i = 0; i < length; ++i) word(x + i, apart, w + i * kInterleaved, block_words);
  }

  template <int kLength>
  INLINE void run_all(const uint64_t* x, int64_t apart, const uint64_t* w, int64_t block_words) {
#pragma GCC unroll 6
    for (int i = 0; i < kLength; ++i) word(x + i, apart, w + i * kInterleaved, block_words);
  }

  // total - 2 count, for the outputs that there are.
  INLINE void store(int s, __m512i total, int16_t* to, int64_t outputs) const {
    const __m512i count = words_of(sums[s]), sum = _mm512_sub_epi16(total, _mm512_add_epi16(count, count));
    if (outputs >= 4 * kInterleaved) return _mm512_storeu_si512(to, sum);
    _mm512_mask_storeu_epi16(to, (__mmask32(1) << outputs) - 1, sum);
  }

  // Counts have 15 bits: those of four blocks share a vector of 16-bit lanes, and a permutation puts them in order.
  INLINE static __m512i words_of(const __m512i* counts) {
    const __m512i order = _mm512_set_epi16(31, 27, 23, 19, 15, 11, 7, 3, 30, 26, 22, 18, 14, 10, 6, 2,  //
                                           29, 25, 21, 17, 13, 9, 5, 1, 28, 24, 20, 16, 12, 8, 4, 0);
    __m512i all = counts[0];
    if constexpr (kBlocks > 1) all = _mm512_or_si512(all, _mm512_slli_epi64(counts[1], 16));
    if constexpr (kBlocks > 2) all = _mm512_or_si512(all, _mm512_slli_epi64(counts[2], 32));
    if constexpr (kBlocks > 3) all = _mm512_or_si512(all, _mm512_slli_epi64(counts[3], 48));
    return _mm512_permutexvar_epi16(order, all);
  }
};

// Places that are computed together: they have the same taps inside the map, and each lies `apart` words of x and
// `sums_apart` sums behind the one before. They are the same place of several samples, or neighbours in one.
struct Places {
  int64_t row, column, apart, sums_apart;
};

// Of all taps, without the counts; a function of its own, or sums would not stay in registers.
__attribute__((noinline)) __m512i totals(const BinaryConvArgs& a, const int16_t* outside, TapRange rows,
                                         TapRange columns, int64_t first) {
  const int64_t taps = (rows.last - rows.first) * (columns.last - columns.first);
  __m512i total = _mm512_set1_epi16(short(taps * a.channels));
  if (a.padding && taps < a.kernel * a.kernel)
    over_outside(a, outside, first, rows, columns,
                 [&](const int16_t* some) { total = _mm512_add_epi16(total, _mm512_load_si512(some)); });
  return total;
}

template <int kBlocks, int kPlaces>
void places(const BinaryConvArgs& a, const uint64_t* x, const uint64_t* w, const int16_t* outside, Places at,
            int16_t* sums, int64_t first) {
  const int64_t block_words = a.kernel * a.kernel * a.words * kInterleaved;
  const TapRange rows = taps_inside(at.row, a.stride, a.pad, a.kernel, a.height);
  const TapRange columns = taps_inside(at.column, a.stride, a.pad, a.kernel, a.width);
  const int64_t side_by_side = columns.last - columns.first, left = at.column * a.stride + columns.first - a.pad;
  const __m512i total = totals(a, outside, rows, columns, first);
  Counts<kBlocks, kPlaces> counts;
  for (int64_t row = rows.first; row < rows.last; ++row)
    counts.run(x + ((at.row * a.stride + row - a.pad) * a.width + left) * a.words, at.apart,
               w + (row * a.kernel + columns.first) * a.words * kInterleaved, block_words, side_by_side * a.words);
  sums += (at.row * a.out_w + at.column) * a.outputs;
#pragma GCC unroll 4
  for (int s = 0; s < kPlaces; ++s) counts.store(s, total, sums + s * at.sums_apart, a.outputs - first);
}

// Four places of a row after another, from `column` on, while all taps of a 3x3 window of kWords words lie inside: no
// loop of a few steps, and nothing to find out. Returns the first column that is left.
template <int kBlocks, int kWords>
int64_t whole_windows(const BinaryConvArgs& a, const uint64_t* x, const uint64_t* w, int64_t row, int64_t column,
                      int64_t last, int16_t* sums, int64_t outputs) {
  const int64_t block_words = 9 * kWords * kInterleaved, apart = a.stride * kWords;
  x += ((row * a.stride - a.pad) * a.width + column * a.stride - a.pad) * kWords;
  sums += (row * a.out_w + column) * a.outputs;
  const __m512i total = _mm512_set1_epi16(short(9 * a.channels));
  for (; column + 4 <= last; column += 4, x += 4 * apart, sums += 4 * a.outputs) {
    Counts<kBlocks, 4> counts;
    counts.template run_all<3 * kWords>(x, apart, w, block_words);
    counts.template run_all<3 * kWords>(x + a.width * kWords, apart, w + 3 * kWords * kInterleaved, block_words);
    counts.template run_all<3 * kWords>(x + 2 * a.width * kWords, apart, w + 6 * kWords * kInterleaved, block_words);
#pragma GCC unroll 4
    for (int s = 0; s < 4; ++s) counts.store(s, total, sums + s * a.outputs, outputs);
  }
  return column;
}

// Outputs whose taps along one side all lie inside.
TapRange inner(int64_t outputs, int64_t inputs, const BinaryConvArgs& a) {
  int64_t first = 0, last = outputs;
  while (first < outputs && first * a.stride < a.pad) ++first;
  while (last > first && (last - 1) * a.stride - a.pad + a.kernel > inputs) --last;
  return {first, last};
}

int64_t weight_words(const BinaryConvArgs& a) {
  return (a.outputs + kInterleaved - 1) / kInterleaved * kInterleaved * a.kernel * a.kernel * a.words;
}

// All places of some outputs.
template <int kBlocks>
struct Blocks {
  const BinaryConvArgs& a;
  const uint64_t* w;
  const int16_t* outside;
  int64_t first;  // output

  Blocks(const BinaryConvArgs& args, int64_t first_block) : a(args), first(first_block * kInterleaved) {
    const int64_t block_words = a.kernel * a.kernel * a.words * kInterleaved;
    w = a.w + first_block * block_words;
    outside = reinterpret_cast<const int16_t*>(a.w + weight_words(a));
  }

  template <int kPlaces>
  void run(int64_t sample, Places at) const {
    places<kBlocks, kPlaces>(a, a.x + sample * a.height * a.width * a.words, w, outside, at,
                             a.sums + sample * a.out_h * a.out_w * a.outputs + first, first);
  }

  template <int kSamples>
  void samples(int64_t sample) const {
    for (int64_t row = 0; row < a.out_h; ++row)
      for (int64_t column = 0; column < a.out_w; ++column)
        run<kSamples>(sample, {row, column, a.height * a.width * a.words, a.out_h * a.out_w * a.outputs});
  }

  // The first place and those behind it, `step` apart in rows and columns; whether two or four of `left` were done.
  int64_t some(int64_t sample, int64_t row, int64_t column, int64_t left, bool down) const {
    const int64_t step = down ? a.width : 1, sums_step = down ? a.out_w : 1;
    const Places at = {row, column, step * a.stride * a.words, sums_step * a.outputs};
    if (left >= 4) return run<4>(sample, at), 4;
    if (left >= 2) return run<2>(sample, at), 2;
    return run<1>(sample, at), 1;
  }

  // Neighbours along a row, as far as the columns of their taps are inside; the columns at the edges downwards.
  void one_sample(int64_t sample) const {
    const TapRange columns = inner(a.out_w, a.width, a), rows = inner(a.out_h, a.height, a);
    const uint64_t* x = a.x + sample * a.height * a.width * a.words;
    int16_t* sums = a.sums + sample * a.out_h * a.out_w * a.outputs + first;
    for (int64_t row = 0; row < a.out_h; ++row) {
      int64_t column = columns.first;
      const bool whole = a.kernel == 3 && rows.first <= row && row < rows.last;
      if (whole && a.words == 1)
        column = whole_windows<kBlocks, 1>(a, x, w, row, column, columns.last, sums, a.outputs - first);
      if (whole && a.words == 2)
        column = whole_windows<kBlocks, 2>(a, x, w, row, column, columns.last, sums, a.outputs - first);
      while (column < columns.last) column += some(sample, row, column, columns.last - column, false);
    }
    for (int64_t column = 0; column < a.out_w; ++column) {
      if (column == columns.first) column = columns.last;
      if (column >= a.out_w) break;
      for (int64_t row = 0; row < a.out_h;) {
        const bool inside = rows.first <= row && row < rows.last;
        row += some(sample, row, column, inside ? rows.last - row : 1, true);
      }
    }
  }

  void all() const {
    int64_t sample = 0;
    for (; sample + 4 <= a.samples; sample += 4) samples<4>(sample);
    if (sample + 2 <= a.samples) {
      samples<2>(sample);
      sample += 2;
    }
    if (sample < a.samples) one_sample(sample);
  }
};

uint64_t packed_weights_bytes(const BinaryConvArgs& a) { return 8 * uint64_t(weight_words(a)) + outside_bytes(a); }

void pack_weights(const BinaryConvArgs& a, uint8_t* packed_weights) {
  pack_outside(a, reinterpret_cast<uint8_t*>(interleave_weights(a, packed_weights)));
}

void run(const BinaryConvArgs& a) {
  const int64_t blocks = (a.outputs + kInterleaved - 1) / kInterleaved;
  int64_t block = 0;
  for (; block + 4 <= blocks; block += 4) Blocks<4>(a, block).all();
  const int64_t left = blocks - block;
  if (left == 3) Blocks<3>(a, block).all();
  if (left == 2) Blocks<2>(a, block).all();
  if (left == 1) Blocks<1>(a, block).all();
}

}  // namespace

extern const BinaryConv kBinaryConvAvx512 = {run, packed_weights_bytes, pack_weights};

}  // namespace bitreplay
