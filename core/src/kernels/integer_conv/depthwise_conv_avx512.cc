// Depthwise convolution of bytes with AVX-512: 16 channels a lane each, four columns of a row of taps by vpdpbusd.
//
// A strip holds the rows of taps of one row of results, for up to 64 channels: for each 16 of them the columns side by
// side, 16 bytes each, as u = x + 128, which has no sign, and where a tap lies outside the map, u = x_zero + 128. So
// four columns are one load, and one vpermb brings the four bytes of a channel together. kGroup results, kStride
// columns apart, share the kQuads quads of columns that they cover; weights stand in each quad at the places of a
// result's taps, 0 beside them. With all taps there, sum (x - zero) w = sum u w - (128 + zero) sum w, exact in 32 bits.
#include <immintrin.h>

#include <cstring>

#include "kernels/integer_conv/depthwise_conv_affine.h"
#include "kernels/integer_conv/depthwise_quads.h"

namespace bitreplay {
namespace {

constexpr Order kOrder = Order::single;
constexpr int64_t kBlock = kQuadChannels, kBlocks = 4;            // channels in a vector; vectors in a strip
constexpr int64_t kColumns = 192, kRow = kColumns * kBlock + 64;  // of a strip's row, at most; its bytes

template <int kKernel, int kStride>
using Shape = QuadShape<kKernel, kStride>;

struct Strip {
  alignas(64) uint8_t rows[5][kBlocks][kRow];
};

template <int kKernel>
using Packed = PackedQuads<kKernel>;

// The same for each result of a group: all taps of a row moved by as many columns as it lies behind the first.
template <int kKernel, int kStride>
struct Weights {
  using S = Shape<kKernel, kStride>;
  __m512i of[kKernel][S::kGroup][S::kQuads], taken;

  void fill(const Packed<kKernel>& from) {
    taken = _mm512_load_si512(from.corrections);
    for (int row = 0; row < kKernel; ++row) {
      for (int result = 0; result < S::kGroup; ++result) {
        const __m128i on = _mm_cvtsi32_si128(8 * result * kStride), back = _mm_cvtsi32_si128(32 - 8 * result * kStride);
        __m512i before = _mm512_setzero_si512();
        for (int quad = 0; quad < S::kQuads; ++quad) {
          const __m512i own = _mm512_load_si512(from.of[row][quad]);
          of[row][result][quad] = _mm512_or_si512(_mm512_sll_epi32(own, on), _mm512_srl_epi32(before, back));
          before = own;
        }
      }
    }
  }
};

// A row of the map, or of zeros outside of it, from column -pad on.
void fill_row(const DepthwiseConvArgs& a, int64_t sample, int64_t row, int64_t channel, int64_t blocks, int64_t columns,
              uint8_t (*to)[kRow]) {
  const __m128i sign = _mm_set1_epi8(-128), zero = _mm_set1_epi8(char(a.x_zero + 128));
  const bool inside = row >= 0 && row < a.height;
  const int64_t first = min_of(a.pad, columns), last = inside ? min_of(a.pad + a.width, columns) : first;
  const int8_t* x = a.x + ((sample * a.height + (inside ? row : 0)) * a.width) * a.channels + channel;
  const auto put = [&](int64_t block, int64_t column, __m128i value) {
    _mm_store_si128(reinterpret_cast<__m128i*>(to[block] + column * kBlock), value);
  };
  for (int64_t block = 0; block < blocks; ++block) {
    for (int64_t column = 0; column < first; ++column) put(block, column, zero);
    for (int64_t column = last; column < columns; ++column) put(block, column, zero);
  }
  for (int64_t column = first; column < last; ++column)
    for (int64_t block = 0; block < blocks; ++block)
      put(block, column,
          _mm_xor_si128(sign, _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + (column - first) * a.channels +
                                                                               block * kBlock))));
}

// Where the four bytes of a channel lie in four columns of 16; channels are in Order::single (affine_of_sums.h).
inline __m512i quads() {
  const __m128i four = _mm_setr_epi8(0, 16, 32, 48, 2, 18, 34, 50, 1, 17, 33, 49, 3, 19, 35, 51);
  const __m512i all = _mm512_broadcast_i32x4(four);
  return _mm512_add_epi8(
      all, _mm512_setr_epi32(0, 0, 0, 0, 0x04040404, 0x04040404, 0x04040404, 0x04040404, 0x08080808, 0x08080808,
                             0x08080808, 0x08080808, 0x0C0C0C0C, 0x0C0C0C0C, 0x0C0C0C0C, 0x0C0C0C0C));
}

// The first kResults results of a group of 16 channels.
template <int kResults, int kKernel, int kStride>
inline __attribute__((always_inline)) void run_group(const Weights<kKernel, kStride>& weights,
                                                     const uint8_t* const* rows, int64_t column, __m512i* sums) {
  using S = Shape<kKernel, kStride>;
  const __m512i order = quads();
  // Where there are more weights than registers, the compiler would copy them for every row of results.
  const Weights<kKernel, kStride>* own = &weights;
  if (kKernel > 3) asm("" : "+r"(own));
#pragma GCC unroll 4
  for (int result = 0; result < kResults; ++result) sums[result] = own->taken;
#pragma GCC unroll 5
  for (int row = 0; row < kKernel; ++row) {
#pragma GCC unroll 2
    for (int quad = 0; quad < S::kQuads; ++quad) {
      const uint8_t* from = rows[row] + (column * kStride + 4 * quad) * kBlock;
      const __m512i x = _mm512_permutexvar_epi8(order, _mm512_loadu_si512(from));
#pragma GCC unroll 4
      for (int result = 0; result < kResults; ++result)
        sums[result] = _mm512_dpbusd_epi32(sums[result], x, own->of[row][result][quad]);
    }
  }
}

// A row of results: put(column, sums of four), and of two and one for what is left.
template <int kKernel, int kStride, class Put>
inline __attribute__((always_inline)) void run_row(const Weights<kKernel, kStride>& weights, const uint8_t* const* rows,
                                                   int64_t out_w, Put&& put) {
  constexpr int kGroup = Shape<kKernel, kStride>::kGroup;
  int64_t column = 0;
  for (; column + 4 <= out_w; column += 4) {
    __m512i sums[4];
#pragma GCC unroll 4
    for (int result = 0; result < 4; result += kGroup) run_group<kGroup>(weights, rows, column + result, sums + result);
    put(column, sums);
  }
  if constexpr (kGroup > 1) {
    if (column + 2 <= out_w) {
      __m512i sums[2];
      run_group<2>(weights, rows, column, sums);
      put(column, sums);
      column += 2;
    }
  }
  for (; column < out_w; ++column) {
    __m512i sum[1];
    run_group<1>(weights, rows, column, sum);
    put(column, sum);
  }
}

// run(rows of taps, place of the row of results, first channel of 16) for every row of results.
template <int kKernel, int kStride, class Run>
void over_rows(const DepthwiseConvArgs& a, Run run) {
  using S = Shape<kKernel, kStride>;
  Strip strip;
  Weights<kKernel, kStride> weights[kBlocks];
  const auto* packed = reinterpret_cast<const Packed<kKernel>*>(a.packed_weights);
  const int64_t groups = (a.out_w + S::kGroup - 1) / S::kGroup;
  const int64_t columns = (groups - 1) * S::kGroup * kStride + 4 * S::kQuads;
  for (int64_t channel = 0; channel < a.channels; channel += kBlocks * kBlock) {
    const int64_t blocks = min_of(kBlocks, (a.channels - channel) / kBlock);
    for (int64_t block = 0; block < blocks; ++block) weights[block].fill(packed[channel / kBlock + block]);
    for (int64_t sample = 0; sample < a.samples; ++sample) {
      int64_t filled = -a.pad;  // the next row of the map, which lies at its number modulo the taps
      for (int64_t out_row = 0; out_row < a.out_h; ++out_row) {
        const int64_t top = out_row * kStride - a.pad;
        for (filled = max_of(filled, top); filled < top + kKernel; ++filled)
          fill_row(a, sample, filled, channel, blocks, columns, strip.rows[(filled + a.pad) % kKernel]);
        const uint8_t* rows[kKernel];
        for (int row = 0; row < kKernel; ++row) rows[row] = strip.rows[(top + row + a.pad) % kKernel][0];
        for (int64_t block = 0; block < blocks; ++block) {
          if (block)
            for (int row = 0; row < kKernel; ++row) rows[row] += kRow;
          run(weights[block], rows, (sample * a.out_h + out_row) * a.out_w, channel + block * kBlock);
        }
      }
    }
  }
}

template <int kKernel, int kStride>
void run_sums(const DepthwiseConvArgs& a) {
  over_rows<kKernel, kStride>(a, [&](const auto& weights, const uint8_t* const* rows, int64_t first, int64_t channel) {
    int32_t* to = a.sums + first * a.channels + channel;
    run_row(weights, rows, a.out_w, [&](int64_t column, const auto& sums) {
      for (const __m512i& sum : sums)
        _mm512_storeu_si512(to + column++ * a.channels, _mm512_shuffle_epi32(sum, _MM_PERM_DBCA));
    });
  });
}

// What affine makes of the sums of a row of 16 channels.
template <bool kPlain, bool kTies>
struct PutBytes {
  const AffineOfSums::Finish<kPlain, false, kTies> with;
  const AffineOfSums::Column own;
  int8_t* const to;
  const int64_t apart;
  Words same = all_words(0);  // numbers that were not saturated, of fours; there are no more than kColumns
  Lanes same_of_ones = all_lanes(0);

  inline __attribute__((always_inline)) Lanes exact(__m512i sums) const {
    return AffineOfSums::exact(with, own, Lanes{sums}, Lanes{sums});
  }
  inline __attribute__((always_inline)) __m512i clipped(__m512i first, __m512i second) {
    const Words words = pack(exact(first), exact(second)), inside = smaller(larger(words, with.low), with.high);
    same = count_same(same, words, inside);
    return inside.v;
  }
  inline __attribute__((always_inline)) void operator()(int64_t column, const __m512i (&sums)[4]) {
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i low = clipped(sums[0], sums[1]), high = clipped(sums[2], sums[3]);
    const __m512i bytes = _mm512_permutexvar_epi32(order, _mm512_packs_epi16(low, high));
    const auto place = [&](int result) { return reinterpret_cast<__m128i*>(to + (column + result) * apart); };
    _mm_storeu_si128(place(0), _mm512_castsi512_si128(bytes));
    _mm_storeu_si128(place(1), _mm512_extracti32x4_epi32(bytes, 1));
    _mm_storeu_si128(place(2), _mm512_extracti32x4_epi32(bytes, 2));
    _mm_storeu_si128(place(3), _mm512_extracti32x4_epi32(bytes, 3));
  }
  template <int kResults>
  inline __attribute__((always_inline)) void operator()(int64_t column, const __m512i (&sums)[kResults]) {
#pragma GCC unroll 2
    for (int result = 0; result < kResults; ++result) {
      const Lanes one = exact(sums[result]), inside = smaller(larger(one, with.lowest), with.highest);
      same_of_ones = count_same(same_of_ones, one, inside);
      store_lanes(to + (column + result) * apart, inside);
    }
  }
};

template <int kKernel, int kStride, bool kPlain, bool kTies>
void run_affine(const DepthwiseConvArgs& a, const AffineOfSums& affine) {
  Lanes same = all_lanes(0);  // numbers that were not saturated
  over_rows<kKernel, kStride>(a, [&](const auto& weights, const uint8_t* const* rows, int64_t first, int64_t channel) {
    int8_t* to = static_cast<int8_t*>(a.affine->y) + first * a.channels + channel;
    PutBytes<kPlain, kTies> put = {{affine, *a.affine}, affine.columns[channel / kBlock], to, a.channels};
    run_row(weights, rows, a.out_w, put);
    same = add_pairs(same + put.same_of_ones, put.same);
  });
  const int64_t all = a.samples * a.out_h * a.out_w * a.channels;
  *a.affine->saturated = add(*a.affine->saturated, all - sum_of(same));
}

template <int kKernel, int kStride>
bool run_as(const DepthwiseConvArgs& a) {
  using S = Shape<kKernel, kStride>;
  if (a.out_w * kStride + 4 * S::kQuads > kColumns) return false;
  if (!a.affine) return run_sums<kKernel, kStride>(a), true;
  return with_prepared<kOrder>(a, [&](const AffineOfSums& affine) {
    if (affine.ties) run_affine<kKernel, kStride, false, true>(a, affine);
    else if (affine.plain) run_affine<kKernel, kStride, true, false>(a, affine);
    else run_affine<kKernel, kStride, false, false>(a, affine);
  });
}

bool serves(const DepthwiseConvArgs& a) {
  return a.channels % kBlock == 0 && (a.kernel == 3 || a.kernel == 5) && (a.stride == 1 || a.stride == 2);
}

uint64_t packed_weights_bytes(const DepthwiseConvArgs& a) {
  if (!serves(a)) return 0;
  return packed_quads_bytes(a);
}

void pack_weights(const DepthwiseConvArgs& a, uint8_t* packed_weights) {
  if (a.kernel == 3) pack_quads<3>(a, 128 + a.x_zero, swapped, packed_weights);
  else pack_quads<5>(a, 128 + a.x_zero, swapped, packed_weights);
}

bool run(const DepthwiseConvArgs& a) {
  if (a.kernel == 3) return a.stride == 1 ? run_as<3, 1>(a) : run_as<3, 2>(a);
  return a.stride == 1 ? run_as<5, 1>(a) : run_as<5, 2>(a);
}

}  // namespace

const DepthwiseConv kDepthwiseConvAvx512 = {packed_weights_bytes, pack_weights, run, prepared_bytes<kOrder>,
                                            prepare_affine<kOrder>};

}  // namespace bitreplay
