// Depthwise convolution of bytes: 16 channels of a pixel at a time, two taps by smull and smlal, whose 16 bits hold the
// sum of two products unless both are (-128)(-128), and saddw to 32 bits: 12 instructions for 32 products.
//
// sum (x - zero) w = sum x w - zero sum w: a tap outside the map reads `zero`, so a window at the border is copied.
#include <arm_neon.h>

#include <cstring>

#include "arithmetic/fixedpoint.h"
#include "arithmetic/sliding_window.h"
#include "kernels/affine/affine_of_sums_neon.h"
#include "kernels/affine/affine_part.h"
#include "kernels/integer_conv/prepared_in_order.h"

namespace bitreplay {
namespace {

#define INLINE __attribute__((always_inline))

constexpr int64_t kBlock = 16, kSumsAtOnce = 16384, kFewSums = 1 << 16;

// What 16 channels need: their weights tap by tap, -zero times the sum of each channel's, whether one of them is -128.
template <int kKernel>
struct Packed {
  int8_t weights[kKernel * kKernel][kBlock];
  int32_t corrections[kBlock];
  int64_t lowest[2];
};

// A window whose rows and columns lie so many bytes apart.
struct Window {
  const int8_t* x;
  int64_t row, column;
};

template <int kKernel, bool kLowest>
INLINE inline void sum_up(const Packed<kKernel>& packed, Window window, int32_t* to) {
  int32x4_t a = vld1q_s32(packed.corrections), b = vld1q_s32(packed.corrections + 4);
  int32x4_t c = vld1q_s32(packed.corrections + 8), d = vld1q_s32(packed.corrections + 12);
  const auto add = [&](int16x8_t front, int16x8_t back) INLINE {
    a = vaddw_s16(a, vget_low_s16(front));
    b = vaddw_high_s16(b, front);
    c = vaddw_s16(c, vget_low_s16(back));
    d = vaddw_high_s16(d, back);
  };
  const auto input = [&](int tap) INLINE {
    return vld1q_s8(window.x + tap / kKernel * window.row + tap % kKernel * window.column);
  };
#pragma GCC unroll 25
  for (int tap = 0; tap < kKernel * kKernel; tap += 2) {
    const int8x16_t x = input(tap), w = vld1q_s8(packed.weights[tap]);
    int16x8_t front = vmull_s8(vget_low_s8(x), vget_low_s8(w)), back = vmull_high_s8(x, w);
    if (tap + 1 < kKernel * kKernel) {
      const int8x16_t next = input(tap + 1), v = vld1q_s8(packed.weights[tap + 1]);
      if (kLowest) {
        add(front, back);
        front = vmull_s8(vget_low_s8(next), vget_low_s8(v));
        back = vmull_high_s8(next, v);
      } else {
        front = vmlal_s8(front, vget_low_s8(next), vget_low_s8(v));
        back = vmlal_high_s8(back, next, v);
      }
    }
    add(front, back);
  }
  vst1q_s32(to, a);
  vst1q_s32(to + 4, b);
  vst1q_s32(to + 8, c);
  vst1q_s32(to + 12, d);
}

// A row of results of 16 channels.
template <int kKernel, bool kLowest>
void run_row(const DepthwiseConvArgs& a, const Packed<kKernel>& packed, const int8_t* map, int64_t out_row,
             int32_t* to) {
  int8_t copied[kKernel * kKernel][kBlock];
  const int64_t row_bytes = a.width * a.channels, top = out_row * a.stride - a.pad;
  const TapRange rows = taps_inside(out_row, a.stride, a.pad, kKernel, a.height);
  for (int64_t out_column = 0; out_column < a.out_w; ++out_column, to += a.channels) {
    const int64_t left = out_column * a.stride - a.pad;
    if (rows.last - rows.first == kKernel && left >= 0 && left + kKernel <= a.width) {
      sum_up<kKernel, kLowest>(packed, {map + top * row_bytes + left * a.channels, row_bytes, a.channels}, to);
      continue;
    }
    const TapRange columns = taps_inside(out_column, a.stride, a.pad, kKernel, a.width);
    memset(copied, int(a.x_zero), sizeof copied);
    for (int64_t row = rows.first; row < rows.last; ++row)
      for (int64_t column = columns.first; column < columns.last; ++column)
        vst1q_s8(copied[row * kKernel + column],
                 vld1q_s8(map + (top + row) * row_bytes + (left + column) * a.channels));
    sum_up<kKernel, kLowest>(packed, {copied[0], kKernel * kBlock, kBlock}, to);
  }
}

template <int kKernel>
bool run_as(const DepthwiseConvArgs& a) {
  const auto* packed = reinterpret_cast<const Packed<kKernel>*>(a.packed_weights);
  int32_t sums[kSumsAtOnce];
  const int64_t each = a.out_w * a.channels;
  // Few sums that have a place stay in the cache there (integer_conv_bytes.h).
  if (a.affine && (each > kSumsAtOnce || (a.sums && !a.prepared && a.samples * a.out_h * each < kFewSums)))
    return false;
  for (int64_t row = 0; row < a.samples * a.out_h; ++row) {
    const int8_t* map = a.x + row / a.out_h * a.height * a.width * a.channels;
    int32_t* to = a.affine ? sums : a.sums + row * each;
    for (int64_t block = 0; block < a.channels / kBlock; ++block) {
      const Packed<kKernel>& own = packed[block];
      const int64_t channel = block * kBlock;
      if (own.lowest[0]) run_row<kKernel, true>(a, own, map + channel, row % a.out_h, to + channel);
      else run_row<kKernel, false>(a, own, map + channel, row % a.out_h, to + channel);
    }
    if (a.affine) affine_of_rows_neon(affine_rows(*a.affine, sums, row * a.out_w, a.out_w), a.prepared);
  }
  return true;
}

template <int kKernel>
void pack_as(const DepthwiseConvArgs& a, uint8_t* packed_weights) {
  for (int64_t block = 0; block < a.channels / kBlock; ++block) {
    Packed<kKernel>& to = reinterpret_cast<Packed<kKernel>*>(packed_weights)[block];
    to.lowest[0] = to.lowest[1] = 0;
    for (int64_t lane = 0; lane < kBlock; ++lane) {
      int32_t sum = 0;
      for (int tap = 0; tap < kKernel * kKernel; ++tap) {
        const int8_t weight = a.w[(block * kBlock + lane) * kKernel * kKernel + tap];
        to.weights[tap][lane] = weight;
        to.lowest[0] |= weight == INT8_MIN;
        sum += weight;
      }
      to.corrections[lane] = -int32_t(a.x_zero) * sum;
    }
  }
}

uint64_t packed_weights_bytes(const DepthwiseConvArgs& a) {
  if (a.channels % kBlock || (a.kernel != 3 && a.kernel != 5)) return 0;
  return uint64_t(a.channels / kBlock) * (a.kernel == 3 ? sizeof(Packed<3>) : sizeof(Packed<5>));
}

void pack_weights(const DepthwiseConvArgs& a, uint8_t* packed_weights) {
  a.kernel == 3 ? pack_as<3>(a, packed_weights) : pack_as<5>(a, packed_weights);
}

bool run(const DepthwiseConvArgs& a) { return a.kernel == 3 ? run_as<3>(a) : run_as<5>(a); }

}  // namespace

const DepthwiseConv kDepthwiseConvNeon = {packed_weights_bytes, pack_weights, run, in_order_bytes, prepare_in_order};

}  // namespace bitreplay
