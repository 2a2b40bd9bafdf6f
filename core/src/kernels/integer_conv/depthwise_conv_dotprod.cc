// Depthwise convolution of bytes by sdot (ARMv8.2): 16 channels, four columns of a row of taps at a time.
//
// A strip holds the rows of taps of one row of results, for 16 channels: quads, every kStep columns the four bytes of
// each channel from there on, side by side; the input's zero where a tap lies outside the map. kGroup results, kStride
// columns apart, share the kQuads quads that they cover; weights stand in each quad at the places of a result's taps,
// 0 beside them. With all taps there, sum (x - zero) w = sum x w - zero sum w.
//
// The affine behind it is done while sums are in registers, where its numbers were made when the program was opened;
// else as on NEON, whose kernel takes windows and rows of results that this one does not.
//
// Cost, of 16 channels at a place: 12 sdot where the window is 3x3, 40 where it is 5x5, and some 13 instructions for
// each quad of a row of inputs.
#include <arm_neon.h>

#include <cstring>

#include "kernels/affine/affine_of_sums_neon.h"
#include "kernels/affine/affine_part.h"
#include "kernels/integer_conv/depthwise_quads.h"
#include "kernels/integer_conv/prepared_in_order.h"

namespace bitreplay {
namespace {

#define INLINE __attribute__((always_inline))

constexpr int64_t kBlock = kQuadChannels, kSumsAtOnce = 16384, kFewSums = 1 << 16;
constexpr int64_t kQuadBytes = 4 * kBlock, kMostQuads = 128;  // of a strip's row

template <int kKernel, int kStride>
struct Shape : QuadShape<kKernel, kStride> {
  using QuadShape<kKernel, kStride>::kQuads, QuadShape<kKernel, kStride>::kGroup;
  static constexpr int kStep = kGroup * kStride;
  static_assert(kQuads == 1 || kStep == 4, "the next group's first quad is this one's second");

  static int64_t quads_of(const DepthwiseConvArgs& a) { return (a.out_w + kGroup - 1) / kGroup - 1 + kQuads; }
};

template <int kKernel>
using Packed = PackedQuads<kKernel>;

// The same for each result of a group: all taps of a row moved by as many columns as it lies behind the first.
template <int kKernel, int kStride>
struct Weights {
  using S = Shape<kKernel, kStride>;
  int8_t of[kKernel][S::kQuads][S::kGroup][kBlock][4];

  explicit Weights(const Packed<kKernel>& from) {
    for (int row = 0; row < kKernel; ++row) {
      for (int result = 0; result < S::kGroup; ++result) {
        const int32x4_t on = vdupq_n_s32(8 * result * kStride), back = vdupq_n_s32(8 * result * kStride - 32);
        for (int four = 0; four < 4; ++four) {
          uint32x4_t before = vdupq_n_u32(0);
          for (int quad = 0; quad < S::kQuads; ++quad) {
            const uint32x4_t own = vreinterpretq_u32_s8(vld1q_s8(from.of[row][quad][4 * four]));
            const uint32x4_t moved = vorrq_u32(vshlq_u32(own, on), vshlq_u32(before, back));
            vst1q_s8(of[row][quad][result][4 * four], vreinterpretq_s8_u32(moved));
            before = own;
          }
        }
      }
    }
  }
};

// A row of the map in quads, from column -pad on.
template <int kStep>
void fill_row(const DepthwiseConvArgs& a, int64_t sample, int64_t row, int64_t channel, int64_t quads, int8_t* to) {
  const int8x16_t zero = vdupq_n_s8(int8_t(a.x_zero));
  const bool there = row >= 0 && row < a.height;
  const int64_t width = there ? a.width : 0, apart = a.channels;
  const int8_t* x = a.x + (sample * a.height + (there ? row : 0)) * a.width * apart + channel;
  const auto put = [&](int8x16_t p, int8x16_t q, int8x16_t r, int8x16_t s) INLINE {
    const int8x16_t even = vzip1q_s8(p, r), odd = vzip1q_s8(q, s), next = vzip2q_s8(p, r), other = vzip2q_s8(q, s);
    vst1q_s8_x4(to, {{vzip1q_s8(even, odd), vzip2q_s8(even, odd), vzip1q_s8(next, other), vzip2q_s8(next, other)}});
    to += kQuadBytes;
  };
  const auto some = [&](int64_t column)
                        INLINE { return column >= 0 && column < width ? vld1q_s8(x + column * apart) : zero; };
  int64_t column = -a.pad;
  const int64_t end = column + quads * kStep, inside = min_of(end, width - 3);
  for (; column < end && column < 0; column += kStep)
    put(some(column), some(column + 1), some(column + 2), some(column + 3));
  const int8_t* from = x + column * apart;
  for (; column < inside; column += kStep, from += kStep * apart)
    put(vld1q_s8(from), vld1q_s8(from + apart), vld1q_s8(from + 2 * apart), vld1q_s8(from + 3 * apart));
  for (; column < end; column += kStep) put(some(column), some(column + 1), some(column + 2), some(column + 3));
}

// The sums of 16 channels at a place.
struct Sums {
  int32x4_t a, b, c, d;

  INLINE void add(const int8x16x4_t& x, const int8x16x4_t& w) {
    a = vdotq_s32(a, x.val[0], w.val[0]);
    b = vdotq_s32(b, x.val[1], w.val[1]);
    c = vdotq_s32(c, x.val[2], w.val[2]);
    d = vdotq_s32(d, x.val[3], w.val[3]);
  }
};

// A group of results: put(column, sums) for those that are there.
template <int kResults, int kKernel, int kStride, class Put>
INLINE inline void run_group(const Weights<kKernel, kStride>& weights, const int8_t* const* rows, const int32_t* start,
                             int64_t group, int64_t there, Put& put) {
  using S = Shape<kKernel, kStride>;
  const int32x4x4_t from = vld1q_s32_x4(start);
  Sums sums[kResults];
#pragma GCC unroll 4
  for (int result = 0; result < kResults; ++result) sums[result] = {from.val[0], from.val[1], from.val[2], from.val[3]};
#pragma GCC unroll 1
  for (int row = 0; row < kKernel; ++row) {
#pragma GCC unroll 2
    for (int quad = 0; quad < S::kQuads; ++quad) {
      const int8x16x4_t x = vld1q_s8_x4(rows[row] + (group + quad) * kQuadBytes);
#pragma GCC unroll 4
      for (int result = 0; result < kResults; ++result)
        sums[result].add(x, vld1q_s8_x4(weights.of[row][quad][result][0]));
    }
  }
#pragma GCC unroll 4
  for (int result = 0; result < kResults; ++result)
    if (result < there) put(group * S::kGroup + result, sums[result]);
}

// put(sums of 16 channels, column) for rows of results from `begin` to `end`, of all samples together; before a row
// next(its number).
template <int kKernel, int kStride, class Next, class Put>
void over_rows(const DepthwiseConvArgs& a, int64_t block, int64_t begin, int64_t end, Next next, Put put) {
  using S = Shape<kKernel, kStride>;
  alignas(64) int8_t strip[kKernel][kMostQuads * kQuadBytes];
  const Packed<kKernel>& packed = reinterpret_cast<const Packed<kKernel>*>(a.packed_weights)[block];
  const Weights<kKernel, kStride> weights(packed);
  const int64_t quads = S::quads_of(a), channel = block * kBlock;
  int64_t filled = -a.pad;  // the next row of the map, which lies at its number modulo the taps
  for (int64_t number = begin; number < end; ++number) {
    const int64_t sample = number / a.out_h, top = number % a.out_h * kStride - a.pad;
    if (number % a.out_h == 0) filled = top;
    const int8_t* rows[kKernel];
    for (filled = max_of(filled, top); filled < top + kKernel; ++filled)
      fill_row<S::kStep>(a, sample, filled, channel, quads, strip[(filled + a.pad) % kKernel]);
    for (int row = 0; row < kKernel; ++row) rows[row] = strip[(top + row + a.pad) % kKernel];
    next(number);
    int64_t group = 0;
    for (; (group + 1) * S::kGroup <= a.out_w; ++group)
      run_group<S::kGroup>(weights, rows, packed.corrections, group, S::kGroup, put);
    const int64_t left = a.out_w - group * S::kGroup;
    if (left == 1) run_group<1>(weights, rows, packed.corrections, group, 1, put);
    else if (left > 0) run_group<S::kGroup>(weights, rows, packed.corrections, group, left, put);
  }
}

// Sums of some rows of results, to where those of the first of them begin.
template <int kKernel, int kStride>
void run_sums(const DepthwiseConvArgs& a, int64_t block, int64_t begin, int64_t end, int32_t* sums) {
  int32_t* to = nullptr;
  const int64_t apart = a.channels;
  over_rows<kKernel, kStride>(
      a, block, begin, end, [&](int64_t row) { to = sums + (row - begin) * a.out_w * apart + block * kBlock; },
      [&](int64_t column, const Sums& own) INLINE {
        vst1q_s32_x4(to + column * apart, {{own.a, own.b, own.c, own.d}});
      });
}

// What affine makes of all sums; how many results lay outside its range.
template <int kKernel, int kStride, bool kDown>
int64_t run_affine(const DepthwiseConvArgs& a, int64_t block, const AffineInOrder& of) {
  AffineOfSumsNeon<kDown> affine(*a.affine, of);
  const int64_t rows = a.samples * a.out_h, apart = a.channels, channel = block * kBlock;
  int64_t same = 0;
  int8_t* to = nullptr;
  over_rows<kKernel, kStride>(
      a, block, 0, rows,
      [&](int64_t row) {
        to = static_cast<int8_t*>(a.affine->y) + row * a.out_w * apart + channel;
        same += affine.take_same();
      },
      [&](int64_t column, const Sums& own)
          INLINE { affine.put(channel, own.a, own.b, own.c, own.d, to + column * apart); });
  return rows * a.out_w * kBlock - same - affine.take_same();
}

template <int kKernel, int kStride>
bool run_as(const DepthwiseConvArgs& a) {
  const int64_t blocks = a.channels / kBlock, rows = a.samples * a.out_h, each = a.out_w * a.channels;
  if (!a.affine) {
    for (int64_t block = 0; block < blocks; ++block) run_sums<kKernel, kStride>(a, block, 0, rows, a.sums);
    return true;
  }
  const AffineInOrder* affine = reinterpret_cast<const AffineInOrder*>(a.prepared);
  if (affine && affine->fits) {
    int64_t outside = 0;
    for (int64_t block = 0; block < blocks; ++block)
      outside += affine->down ? run_affine<kKernel, kStride, true>(a, block, *affine)
                              : run_affine<kKernel, kStride, false>(a, block, *affine);
    *a.affine->saturated = add(*a.affine->saturated, outside);
    return true;
  }
  // Few sums that have a place stay in the cache there (integer_conv_bytes.h).
  if (each > kSumsAtOnce || (a.sums && !a.prepared && rows * each < kFewSums)) return false;
  int32_t sums[kSumsAtOnce];
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t block = 0; block < blocks; ++block) run_sums<kKernel, kStride>(a, block, row, row + 1, sums);
    affine_of_rows_neon(affine_rows(*a.affine, sums, row * a.out_w, a.out_w), a.prepared);
  }
  return true;
}

// what(Shape) of a window that this kernel has.
template <class What>
auto with_shape(const DepthwiseConvArgs& a, What what) {
  if (a.kernel == 3) return a.stride == 1 ? what(Shape<3, 1>()) : what(Shape<3, 2>());
  return a.stride == 1 ? what(Shape<5, 1>()) : what(Shape<5, 2>());
}

bool serves(const DepthwiseConvArgs& a) {
  if (a.channels % kBlock || (a.kernel != 3 && a.kernel != 5) || (a.stride != 1 && a.stride != 2)) return false;
  return with_shape(a, [&](auto shape) { return shape.quads_of(a); }) <= kMostQuads;
}

uint64_t packed_weights_bytes(const DepthwiseConvArgs& a) {
  if (!serves(a)) return kDepthwiseConvNeon.packed_weights_bytes(a);
  return packed_quads_bytes(a);
}

void pack_weights(const DepthwiseConvArgs& a, uint8_t* packed_weights) {
  if (!serves(a)) return kDepthwiseConvNeon.pack_weights(a, packed_weights);
  const auto in_order = [](int64_t channel) { return channel; };
  if (a.kernel == 3) pack_quads<3>(a, a.x_zero, in_order, packed_weights);
  else pack_quads<5>(a, a.x_zero, in_order, packed_weights);
}

bool run(const DepthwiseConvArgs& a) {
  if (!serves(a)) return kDepthwiseConvNeon.run(a);
  if (a.kernel == 3) return a.stride == 1 ? run_as<3, 1>(a) : run_as<3, 2>(a);
  return a.stride == 1 ? run_as<5, 1>(a) : run_as<5, 2>(a);
}

}  // namespace

extern const DepthwiseConv kDepthwiseConvDotprod = {packed_weights_bytes, pack_weights, run, in_order_bytes,
                                                    prepare_in_order};

}  // namespace bitreplay
