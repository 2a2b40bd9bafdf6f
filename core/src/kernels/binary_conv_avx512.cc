// 32 outputs at a time: a word of the pixel is broadcast, four vectors of eight outputs are xored with it and counted by
// vpopcntq. Taps that lie side by side in a row of the map are one run of words.
// Bound: three operations for 512 products, two a cycle.
#include <immintrin.h>

#include "kernels/binary_conv.h"
#include "kernels/taps.h"

namespace bitreplay {
namespace {

template <int kBlocks>
struct Counts {
  __m512i sums[kBlocks];

  Counts() {
    for (int b = 0; b < kBlocks; ++b) sums[b] = _mm512_setzero_si512();
  }

  void run(const uint64_t* x, const uint64_t* w, int64_t block_words, int64_t length) {
    for (int64_t i = 0; i < length; ++i) {
      const __m512i pixel = _mm512_set1_epi64(int64_t(x[i]));
      for (int b = 0; b < kBlocks; ++b) {
        const __m512i weights = _mm512_load_si512(w + b * block_words + kInterleaved * i);
        sums[b] = _mm512_add_epi64(sums[b], _mm512_popcnt_epi64(_mm512_xor_si512(pixel, weights)));
      }
    }
  }
};

template <int kBlocks>
void blocks_at(const BinaryConvArgs& a, int64_t first_block) {
  const int64_t block_words = a.kernel * a.kernel * a.words * kInterleaved, first = first_block * kInterleaved;
  const int64_t all_blocks = (a.outputs + kInterleaved - 1) / kInterleaved, pixels = a.out_h * a.out_w;
  const uint64_t* w = a.w + first_block * block_words;
  const uint64_t* ones = a.w + all_blocks * block_words;
  for (int64_t p = 0; p < a.samples * pixels; ++p) {
    const int64_t out_row = p % pixels / a.out_w, out_column = p % a.out_w;
    const TapRange rows = taps_inside(out_row, a.stride, a.pad, a.kernel, a.height);
    const TapRange columns = taps_inside(out_column, a.stride, a.pad, a.kernel, a.width);
    const uint64_t* x = a.x + p / pixels * a.height * a.width * a.words;
    const int64_t side_by_side = columns.last - columns.first;
    Counts<kBlocks> counts;
    for (int64_t row = rows.first; row < rows.last; ++row) {
      const int64_t y = out_row * a.stride + row - a.pad, left = out_column * a.stride + columns.first - a.pad;
      counts.run(x + (y * a.width + left) * a.words, w + (row * a.kernel + columns.first) * a.words * kInterleaved,
                 block_words, side_by_side * a.words);
    }
    int64_t taps = (rows.last - rows.first) * side_by_side;
    if (a.padding && taps < a.kernel * a.kernel) {
      for (int64_t tap = 0; tap < a.kernel * a.kernel; ++tap) {
        const int64_t r = tap / a.kernel, c = tap % a.kernel;
        if (rows.first <= r && r < rows.last && columns.first <= c && c < columns.last) continue;
        counts.run(ones, w + tap * a.words * kInterleaved, block_words, a.words);
      }
      taps = a.kernel * a.kernel;
    }
    const __m512i total = _mm512_set1_epi64(taps * a.channels);
    int16_t* sums = a.sums + p * a.outputs + first;
    for (int b = 0; b < kBlocks; ++b) {
      const __m512i sum = _mm512_sub_epi64(total, _mm512_slli_epi64(counts.sums[b], 1));
      const int64_t lanes = a.outputs - first - b * kInterleaved;
      const __mmask8 mask = lanes >= kInterleaved ? __mmask8(0xFF) : __mmask8((1 << lanes) - 1);
      _mm512_mask_cvtepi64_storeu_epi16(sums + b * kInterleaved, mask, sum);
    }
  }
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
