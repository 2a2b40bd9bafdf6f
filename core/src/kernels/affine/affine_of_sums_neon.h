// affine of a convolution's sums to bytes by the numbers that were made when the program was opened
// (affine_in_order.h), on ARM: while sums are in registers, or of rows of them. 14 or 16 instructions for eight sums,
// beside loads and stores.
#pragma once
#include "kernels/affine/affine_bytes_neon.h"

namespace bitreplay {
namespace {

// kDown: the high half is shifted. Results that lay in the range are counted; take_same() tells of how many, and is
// called before there are 2^14 for any of the eights that were put.
template <bool kDown>
struct AffineOfSumsNeon {
  const AffineInOrder::Column* const columns;
  const int16x8_t low, high;
  const int32x4_t down;
  int16x8_t inside = vdupq_n_s16(0);

  AffineOfSumsNeon(const AffineArgs& a, const AffineInOrder& of)
      : columns(of.columns), low(vdupq_n_s16(int16_t(a.low))), high(vdupq_n_s16(int16_t(a.high))),
        down(vdupq_n_s32(-int32_t(of.down))) {}

  // What eight channels need.
  struct Eight {
    int64x2x4_t constant;
    int32x4x2_t slope;
  };
  __attribute__((always_inline)) Eight eight(int64_t channel) const {
    const AffineInOrder::Column& own = columns[channel / AffineInOrder::kChannels];
    return {vld1q_s64_x4(own.constant), vld1q_s32_x2(own.slope)};
  }
  __attribute__((always_inline)) int16x8_t exact(const Eight& own, int32x4_t first, int32x4_t second) {
    const int64x2x4_t& constant = own.constant;
    Narrow8 whole = high_halves(Narrow8{{first, second}} * Narrow8{{own.slope.val[0], own.slope.val[1]}},
                                Wide8{{constant.val[0], constant.val[1], constant.val[2], constant.val[3]}});
    if (kDown) whole = {{vshlq_s32(whole.v[0], down), vshlq_s32(whole.v[1], down)}};
    const int16x8_t value = vqmovn_high_s32(vqmovn_s32(whole.v[0]), whole.v[1]);
    const int16x8_t result = vminq_s16(vmaxq_s16(value, low), high);
    inside = vaddq_s16(inside, vreinterpretq_s16_u16(vceqq_s16(result, value)));
    return result;
  }
  __attribute__((always_inline)) void put(const Eight& own, int32x4_t a, int32x4_t b, int8_t* to) {
    vst1_s8(to, vmovn_s16(exact(own, a, b)));
  }
  __attribute__((always_inline)) void put(const Eight& own, const Eight& next, int32x4_t a, int32x4_t b, int32x4_t c,
                                          int32x4_t d, int8_t* to) {
    const int16x8_t front = exact(own, a, b);
    vst1q_s8(to, vmovn_high_s16(vmovn_s16(front), exact(next, c, d)));
  }
  // Of the channels from `channel` on.
  __attribute__((always_inline)) void put(int64_t channel, int32x4_t a, int32x4_t b, int8_t* to) {
    put(eight(channel), a, b, to);
  }
  __attribute__((always_inline)) void put(int64_t channel, int32x4_t a, int32x4_t b, int32x4_t c, int32x4_t d,
                                          int8_t* to) {
    put(eight(channel), eight(channel + 8), a, b, c, d, to);
  }
  int64_t take_same() {
    const int64_t same = -int64_t(vaddlvq_s16(inside));
    inside = vdupq_n_s16(0);
    return same;
  }
};

// Rows of sums; how many results lay outside the range.
template <bool kDown>
int64_t affine_of_rows_in_order(const AffineArgs& a, const AffineInOrder& of) {
  AffineOfSumsNeon<kDown> affine(a, of);
  const int32_t* const sums = static_cast<const int32_t*>(a.x);
  const int64_t apart = a.channels;
  int64_t same = 0;
  for (int64_t start = 0; start < a.rows; start += kRowsCounted / 2) {
    const int64_t rows = min_of(kRowsCounted / 2, a.rows - start);
    for (int64_t channel = 0; channel < a.channels;) {
      const int32_t* x = sums + start * apart + channel;
      int8_t* y = static_cast<int8_t*>(a.y) + start * apart + channel;
      AffineOfSumsNeon<kDown> own = affine;  // which bytes that are stored are no part of
      const auto first = own.eight(channel);
      if (a.channels - channel < 16) {
        for (const int8_t* end = y + rows * apart; y != end; x += apart, y += apart)
          own.put(first, vld1q_s32(x), vld1q_s32(x + 4), y);
        channel += 8;
      } else {
        const auto second = own.eight(channel + 8);
        for (const int8_t* end = y + rows * apart; y != end; x += apart, y += apart)
          own.put(first, second, vld1q_s32(x), vld1q_s32(x + 4), vld1q_s32(x + 8), vld1q_s32(x + 12), y);
        channel += 16;
      }
      same += own.take_same();
    }
  }
  return a.rows * a.channels - same;
}

inline void affine_of_rows_neon(const AffineArgs& a, const uint8_t* prepared) {
  const AffineInOrder* of = reinterpret_cast<const AffineInOrder*>(prepared);
  if (!of || !of->fits) return affine_neon(a);
  const int64_t outside = of->down ? affine_of_rows_in_order<true>(a, *of) : affine_of_rows_in_order<false>(a, *of);
  *a.saturated = add(*a.saturated, outside);
}

}  // namespace
}  // namespace bitreplay
