// 32 outputs of two samples at a time: a word of each sample's pixel is broadcast, four vectors of eight outputs are
// xored with it and counted by vpopcntq. Taps that lie side by side in a row of the map are one run of words; both
// samples are at the same place, so that they read the same weights.
// Bound: three operations for 512 products, two a cycle.
#include <immintrin.h>

#include "arithmetic/sliding_window.h"
#include "kernels/binary_conv/binary_conv.h"

namespace bitreplay {
namespace {

template <int kBlocks, int kSamples>
struct Counts {
  __m512i sums[kSamples][kBlocks];

  Counts() {
    for (int s = 0; s < kSamples; ++s)
      for (int b = 0; b < kBlocks; ++b) sums[s][b] = _mm512_setzero_si512();
  }

  // `length` words of each sample; the samples' words lie `apart` words from one another.
  void run(const uint64_t* x, int64_t apart, const uint64_t* w, int64_t block_words, int64_t length) {
    for (int64_t i = 0; i < length; ++i) {
      __m512i pixels[kSamples];
      for (int s = 0; s < kSamples; ++s) pixels[s] = _mm512_set1_epi64(int64_t(x[s * apart + i]));
      for (int b = 0; b < kBlocks; ++b) {
        const __m512i weights = _mm512_load_si512(w + b * block_words + kInterleaved * i);
        for (int s = 0; s < kSamples; ++s)
          sums[s][b] = _mm512_add_epi64(sums[s][b], _mm512_popcnt_epi64(_mm512_xor_si512(pixels[s], weights)));
      }
    }
  }

  // total - 2 count, for the outputs that there are.
  void store(int s, int64_t total, int16_t* to, int64_t outputs) const {
    if (kBlocks == 4 && outputs >= 4 * kInterleaved) return store_four(sums[s], total, to);
    for (int b = 0; b < kBlocks; ++b) {
      const __m512i sum = _mm512_sub_epi64(_mm512_set1_epi64(total), _mm512_slli_epi64(sums[s][b], 1));
      const int64_t lanes = outputs - b * kInterleaved;
      const __mmask8 mask = lanes >= kInterleaved ? __mmask8(0xFF) : __mmask8((1 << lanes) - 1);
      _mm512_mask_cvtepi64_storeu_epi16(to + b * kInterleaved, mask, sum);
    }
  }

  // Counts have 15 bits: those of four blocks share a vector of 16-bit lanes, and a permutation puts them in order.
  static void store_four(const __m512i* counts, int64_t total, int16_t* to) {
    const __m512i order = _mm512_set_epi16(31, 27, 23, 19, 15, 11, 7, 3, 30, 26, 22, 18, 14, 10, 6, 2,  //
                                           29, 25, 21, 17, 13, 9, 5, 1, 28, 24, 20, 16, 12, 8, 4, 0);
    const __m512i low = _mm512_or_si512(counts[0], _mm512_slli_epi64(counts[1], 16));
    const __m512i high = _mm512_or_si512(_mm512_slli_epi64(counts[2], 32), _mm512_slli_epi64(counts[3], 48));
    const __m512i all = _mm512_permutexvar_epi16(order, _mm512_or_si512(low, high));
    _mm512_storeu_si512(to, _mm512_sub_epi16(_mm512_set1_epi16(short(total)), _mm512_add_epi16(all, all)));
  }
};

// One place of the output in kSamples samples; x and sums are those of the first.
template <int kBlocks, int kSamples>
void place(const BinaryConvArgs& a, const uint64_t* x, const uint64_t* w, const uint64_t* ones, int64_t out_row,
           int64_t out_column, int16_t* sums, int64_t outputs) {
  const int64_t block_words = a.kernel * a.kernel * a.words * kInterleaved, apart = a.height * a.width * a.words;
  const TapRange rows = taps_inside(out_row, a.stride, a.pad, a.kernel, a.height);
  const TapRange columns = taps_inside(out_column, a.stride, a.pad, a.kernel, a.width);
  const int64_t side_by_side = columns.last - columns.first, left = out_column * a.stride + columns.first - a.pad;
  Counts<kBlocks, kSamples> counts;
  for (int64_t row = rows.first; row < rows.last; ++row) {
    const int64_t y = out_row * a.stride + row - a.pad;
    counts.run(x + (y * a.width + left) * a.words, apart, w + (row * a.kernel + columns.first) * a.words * kInterleaved,
               block_words, side_by_side * a.words);
  }
  int64_t taps = (rows.last - rows.first) * side_by_side;
  if (a.padding && taps < a.kernel * a.kernel) {
    for (int64_t tap = 0; tap < a.kernel * a.kernel; ++tap) {
      const int64_t r = tap / a.kernel, c = tap % a.kernel;
      if (rows.first <= r && r < rows.last && columns.first <= c && c < columns.last) continue;
      counts.run(ones, 0, w + tap * a.words * kInterleaved, block_words, a.words);
    }
    taps = a.kernel * a.kernel;
  }
  for (int s = 0; s < kSamples; ++s)
    counts.store(s, taps * a.channels, sums + s * a.out_h * a.out_w * a.outputs, outputs);
}

template <int kBlocks, int kSamples>
void samples_at(const BinaryConvArgs& a, int64_t first_block, int64_t sample) {
  const int64_t block_words = a.kernel * a.kernel * a.words * kInterleaved, first = first_block * kInterleaved;
  const int64_t all_blocks = (a.outputs + kInterleaved - 1) / kInterleaved;
  const uint64_t *w = a.w + first_block * block_words, *ones = a.w + all_blocks * block_words;
  const uint64_t* x = a.x + sample * a.height * a.width * a.words;
  int16_t* sums = a.sums + sample * a.out_h * a.out_w * a.outputs + first;
  for (int64_t row = 0; row < a.out_h; ++row)
    for (int64_t column = 0; column < a.out_w; ++column, sums += a.outputs)
      place<kBlocks, kSamples>(a, x, w, ones, row, column, sums, a.outputs - first);
}

template <int kBlocks>
void blocks_at(const BinaryConvArgs& a, int64_t first_block) {
  int64_t sample = 0;
  for (; sample + 2 <= a.samples; sample += 2) samples_at<kBlocks, 2>(a, first_block, sample);
  if (sample < a.samples) samples_at<kBlocks, 1>(a, first_block, sample);
}

}  // namespace

void binary_conv_avx512(const BinaryConvArgs& a) {
  const int64_t blocks = (a.outputs + kInterleaved - 1) / kInterleaved;
  int64_t block = 0;
  for (; block + 4 <= blocks; block += 4) blocks_at<4>(a, block);
  if (blocks - block >= 2) {
    blocks_at<2>(a, block);
    block += 2;
  }
  if (block < blocks) blocks_at<1>(a, block);
}

}  // namespace bitreplay
