// Depthwise convolution of bytes with AVX2: pairs of columns by vpmaddwd, 16 channels in two halves (pairs.h).
//
// A strip holds the rows of taps of one row of results, for up to 32 channels: for each 16 of them the columns x - zero
// as 16-bit numbers, two woven together; 0 where a tap lies outside the map; of five rows, those outside are left
// out. With stride 1, two neighbouring results share their columns: the weights of the second stand one column further
// on, 0 beside them.
#include <immintrin.h>

#include <cstring>

#include "arithmetic/sliding_window.h"
#include "kernels/integer_conv/depthwise_conv_affine.h"

namespace bitreplay {
namespace {

constexpr Order kOrder = Order::woven;
constexpr int64_t kBlock = 16, kBlocks = 2;  // channels in a vector of words; vectors in a strip
constexpr int64_t kColumns = 192, kRow = kColumns * kBlock + 2 * kBlock;  // of a strip's row, at most; its numbers

template <int kKernel, int kStride>
struct Shape {
  static constexpr int kPairs = (kKernel + 1) / 2, kGroup = kStride == 1 ? 2 : 1;
};

struct Strip {
  alignas(32) int16_t rows[5][kBlocks][kRow];
};

// The packed weights of 16 channels: for each row, result of a group, pair and half, as many pairs of words as lanes.
template <int kKernel, int kStride>
struct Packed {
  using S = Shape<kKernel, kStride>;
  int16_t of[kKernel][S::kGroup][S::kPairs][2][kLanes][2];
};

inline __m256i words_of(const int8_t* from, __m256i zero) {
  return _mm256_sub_epi16(_mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))), zero);
}

// A row of the map, or of zeros outside of it, from column -pad on; an even number of columns.
void fill_row(const DepthwiseConvArgs& a, int64_t sample, int64_t row, int64_t channel, int64_t columns, int16_t* to) {
  const __m256i zero = _mm256_set1_epi16(int16_t(a.x_zero)), none = _mm256_setzero_si256();
  const bool inside = row >= 0 && row < a.height;
  const int64_t first = inside ? min_of(a.pad, columns) : columns,
                last = inside ? min_of(a.pad + a.width, columns) : columns;
  const int64_t apart = a.channels;
  const int8_t* x = a.x + ((sample * a.height + (inside ? row : 0)) * a.width - a.pad) * apart + channel;
  const auto put = [&](int64_t column, __m256i even, __m256i odd) __attribute__((always_inline)) {
    __m256i* place = reinterpret_cast<__m256i*>(to + column * kBlock);
    _mm256_store_si256(place, _mm256_unpacklo_epi16(even, odd));
    _mm256_store_si256(place + 1, _mm256_unpackhi_epi16(even, odd));
  };
  int64_t column = 0;
  for (; column + 2 <= first; column += 2) put(column, none, none);
  if (column < first) put(column, none, words_of(x + (column + 1) * apart, zero)), column += 2;
  for (; column + 2 <= last; column += 2)
    put(column, words_of(x + column * apart, zero), words_of(x + (column + 1) * apart, zero));
  if (column < last) put(column, words_of(x + column * apart, zero), none), column += 2;
  for (; column < columns; column += 2) put(column, none, none);
}

// The first kResults of four results of 16 channels, of the rows of taps in `inside`: put(column, sums of one half, of
// the other). With stride 1 the third and fourth are as the first two, a pair of columns further on; with stride 2
// each is so behind the one before.
template <int kResults, int kKernel, int kStride, class Put>
inline __attribute__((always_inline)) void run_group(const Packed<kKernel, kStride>& weights,
                                                     const int16_t* const* rows, TapRange inside, int64_t column,
                                                     Put put) {
  using S = Shape<kKernel, kStride>;
  __m256i sums[kResults][2];
#pragma GCC unroll 4
  for (int result = 0; result < kResults; ++result) sums[result][0] = sums[result][1] = _mm256_setzero_si256();
    // A loop: unrolled, the compiler would make copies of weights and inputs on the stack.
#pragma GCC unroll 1
  for (int64_t row = inside.first; row < inside.last; ++row) {
    const int16_t* from = rows[row] + column * kStride * kBlock;
#pragma GCC unroll 3
    for (int pair = 0; pair < S::kPairs; ++pair) {
#pragma GCC unroll 2
      for (int half = 0; half < 2; ++half) {
#pragma GCC unroll 4
        for (int result = 0; result < kResults; ++result) {
          const int16_t* x = from + (2 * (pair + result / S::kGroup) + half) * kBlock;
          const __m256i* w = reinterpret_cast<const __m256i*>(weights.of[row][result % S::kGroup][pair][half]);
          const __m256i products =
              _mm256_madd_epi16(_mm256_load_si256(reinterpret_cast<const __m256i*>(x)), _mm256_load_si256(w));
          sums[result][half] = _mm256_add_epi32(sums[result][half], products);
          asm("" : "+x"(sums[result][half]));  // else the products of all rows are made first, and do not fit registers
        }
      }
    }
  }
#pragma GCC unroll 4
  for (int result = 0; result < kResults; ++result) put(column + result, sums[result][0], sums[result][1]);
}

// A row of results.
template <int kKernel, int kStride, class Put>
inline __attribute__((always_inline)) void run_row(const Packed<kKernel, kStride>& weights, const int16_t* const* rows,
                                                   TapRange inside, int64_t out_w, Put put) {
  int64_t column = 0;
  for (; column + 4 <= out_w; column += 4) run_group<4>(weights, rows, inside, column, put);
  if (column + 2 <= out_w) run_group<2>(weights, rows, inside, column, put), column += 2;
  if (column < out_w) run_group<1>(weights, rows, inside, column, put);
}

// run(weights, rows of taps, those to add up, place of the row of results, first channel of 16) for every row of
// results.
template <int kKernel, int kStride, class Run>
void over_rows(const DepthwiseConvArgs& a, Run run) {
  using S = Shape<kKernel, kStride>;
  Strip strip;
  const auto* packed = reinterpret_cast<const Packed<kKernel, kStride>*>(a.packed_weights);
  const int64_t groups = (a.out_w + S::kGroup - 1) / S::kGroup;
  const int64_t columns = (groups - 1) * S::kGroup * kStride + 2 * S::kPairs;
  for (int64_t channel = 0; channel < a.channels; channel += kBlocks * kBlock) {
    const int64_t blocks = min_of(kBlocks, (a.channels - channel) / kBlock);
    for (int64_t sample = 0; sample < a.samples; ++sample) {
      int64_t filled = -a.pad;  // the next row of the map, which lies at its number modulo the taps
      for (int64_t out_row = 0; out_row < a.out_h; ++out_row) {
        const int64_t top = out_row * kStride - a.pad;
        const TapRange all = {0, kKernel};  // of three rows, to know that they are three gains more
        const TapRange inside = kKernel > 3 ? taps_inside(out_row, kStride, a.pad, kKernel, a.height) : all;
        for (filled = max_of(filled, top + inside.first); filled < top + inside.last; ++filled)
          for (int64_t block = 0; block < blocks; ++block)
            fill_row(a, sample, filled, channel + block * kBlock, columns,
                     strip.rows[(filled + a.pad) % kKernel][block]);
        const int16_t* rows[kKernel];
        for (int row = 0; row < kKernel; ++row) rows[row] = strip.rows[(top + row + a.pad) % kKernel][0];
        for (int64_t block = 0; block < blocks; ++block) {
          if (block)
            for (int row = 0; row < kKernel; ++row) rows[row] += kRow;
          run(packed[channel / kBlock + block], rows, inside, (sample * a.out_h + out_row) * a.out_w,
              channel + block * kBlock);
        }
      }
    }
  }
}

template <int kKernel, int kStride>
void run_sums(const DepthwiseConvArgs& a) {
  over_rows<kKernel, kStride>(
      a, [&](const auto& weights, const int16_t* const* rows, TapRange inside, int64_t first, int64_t channel) {
        int32_t* to = a.sums + first * a.channels + channel;
        run_row<kKernel, kStride>(weights, rows, inside, a.out_w, [&](int64_t column, __m256i low, __m256i high) {
          __m256i* place = reinterpret_cast<__m256i*>(to + column * a.channels);
          _mm256_storeu_si256(place, _mm256_permute2x128_si256(low, high, 0x20));
          _mm256_storeu_si256(place + 1, _mm256_permute2x128_si256(low, high, 0x31));
        });
      });
}

template <int kKernel, int kStride, bool kPlain, bool kTies>
void run_affine(const DepthwiseConvArgs& a, const AffineOfSums& affine) {
  Lanes same = all_lanes(0);  // numbers that were not saturated
  over_rows<kKernel, kStride>(
      a, [&](const auto& weights, const int16_t* const* rows, TapRange inside, int64_t first, int64_t channel) {
        int8_t* to = static_cast<int8_t*>(a.affine->y) + first * a.channels + channel;
        const AffineOfSums::Finish<kPlain, false, kTies> with(affine, *a.affine);
        const AffineOfSums::Column one = affine.columns[channel / kLanes], two = affine.columns[channel / kLanes + 1];
        Words equal = all_words(0);
        run_row<kKernel, kStride>(weights, rows, inside, a.out_w, [&](int64_t column, __m256i low, __m256i high) {
          const Lanes first_half = AffineOfSums::exact<false>(with, one, Lanes{low}, Lanes{low});
          const Words exact = pack(first_half, AffineOfSums::exact<false>(with, two, Lanes{high}, Lanes{high}));
          const Words clipped = smaller(larger(exact, with.low), with.high);
          equal = count_same(equal, exact, clipped);
          store_bytes(to + column * a.channels, clipped);
        });
        same = add_pairs(same, equal);
      });
  const int64_t all = a.samples * a.out_h * a.out_w * a.channels;
  *a.affine->saturated = add(*a.affine->saturated, all - sum_of(same));
}

template <int kKernel, int kStride>
bool run_as(const DepthwiseConvArgs& a) {
  if (a.out_w * kStride + 2 * Shape<kKernel, kStride>::kPairs > kColumns) return false;
  if (!a.affine) return run_sums<kKernel, kStride>(a), true;
  return with_prepared<kOrder>(a, [&](const AffineOfSums& affine) {
    if (affine.ties) run_affine<kKernel, kStride, false, true>(a, affine);
    else if (affine.plain) run_affine<kKernel, kStride, true, false>(a, affine);
    else run_affine<kKernel, kStride, false, false>(a, affine);
  });
}

template <int kKernel, int kStride>
void pack_as(const DepthwiseConvArgs& a, uint8_t* packed_weights) {
  using S = Shape<kKernel, kStride>;
  memset(packed_weights, 0, size_t(a.channels / kBlock) * sizeof(Packed<kKernel, kStride>));
  for (int64_t block = 0; block < a.channels / kBlock; ++block) {
    Packed<kKernel, kStride>& to = reinterpret_cast<Packed<kKernel, kStride>*>(packed_weights)[block];
    for (int64_t half = 0; half < 2; ++half) {
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        const int8_t* w = a.w + (block * kBlock + woven(half, lane)) * kKernel * kKernel;
        for (int64_t row = 0; row < kKernel; ++row)
          for (int64_t result = 0; result < S::kGroup; ++result)
            for (int64_t tap = 0; tap < kKernel; ++tap)
              to.of[row][result][(tap + result) / 2][half][lane][(tap + result) % 2] = w[row * kKernel + tap];
      }
    }
  }
}

uint64_t packed_weights_bytes(const DepthwiseConvArgs& a) {
  if (a.channels % kBlock || (a.stride != 1 && a.stride != 2)) return 0;
  const uint64_t blocks = uint64_t(a.channels / kBlock);
  if (a.kernel == 3) return blocks * (a.stride == 1 ? sizeof(Packed<3, 1>) : sizeof(Packed<3, 2>));
  if (a.kernel == 5) return blocks * (a.stride == 1 ? sizeof(Packed<5, 1>) : sizeof(Packed<5, 2>));
  return 0;
}

void pack_weights(const DepthwiseConvArgs& a, uint8_t* packed_weights) {
  if (a.kernel == 3) return a.stride == 1 ? pack_as<3, 1>(a, packed_weights) : pack_as<3, 2>(a, packed_weights);
  return a.stride == 1 ? pack_as<5, 1>(a, packed_weights) : pack_as<5, 2>(a, packed_weights);
}

bool run(const DepthwiseConvArgs& a) {
  if (a.kernel == 3) return a.stride == 1 ? run_as<3, 1>(a) : run_as<3, 2>(a);
  return a.stride == 1 ? run_as<5, 1>(a) : run_as<5, 2>(a);
}

}  // namespace

const DepthwiseConv kDepthwiseConvAvx2 = {packed_weights_bytes, pack_weights, run, prepared_bytes<kOrder>,
                                          prepare_affine<kOrder>};

}  // namespace bitreplay
