// affine to bytes where the sum's high half is all that the result needs: addhn takes it of the sum, half of the last
// unit and the result's zero together, since whole units pass the rounding. All is made 2^up times as large where the
// shift is below 32: the slopes of 32-bit x, else x itself, and the shortcut.
//
// Ties go away from 0: one less where the sum is negative.
#pragma once
#include "kernels/affine/affine_in_order.h"
#include "kernels/lanes/lanes_neon.h"

namespace bitreplay {
namespace {

constexpr int64_t kRowsCounted = 1 << 14;

// How much larger, and the shift of the high half; added: half of the last unit and the result's zero.
struct BytesScale {
  int64_t up, down, added;
};

static inline Narrow8 load_times(const int16_t* from, ClippedTo clipped, bool clips, int16x8_t times) {
  int16x8_t x = vld1q_s16(from);
  if (clips) x = vminq_s16(vmaxq_s16(x, vdupq_n_s16(clipped.low)), vdupq_n_s16(clipped.high));
  return {{vmull_s16(vget_low_s16(x), vget_low_s16(times)), vmull_high_s16(x, times)}};
}
static inline Narrow8 load_times(const int8_t* from, int16x8_t times) {
  const int16x8_t x = vmovl_s8(vld1_s8(from));
  return {{vmull_s16(vget_low_s16(x), vget_low_s16(times)), vmull_high_s16(x, times)}};
}
static inline Narrow8 load_times(const int32_t* from, ClippedTo, bool, int16x8_t) { return load8(from); }

static inline Narrow8 high_halves(Wide8 x, Wide8 y) {
  return {{vaddhn_high_s64(vaddhn_s64(x.v[0], y.v[0]), x.v[1], y.v[1]),
           vaddhn_high_s64(vaddhn_s64(x.v[2], y.v[2]), x.v[3], y.v[3])}};
}

// The rows of eight channels, from the c-th on; how many results lay outside. kDown: the high half is
// shifted.
template <class X, bool kDown, bool kResidual = false, bool kClips = false>
int64_t byte_column(const AffineArgs& a, const BytesScale& scale, ClippedTo clipped, int64_t c, Narrow8 slope,
                    Wide8 constant) {
  const X* x = static_cast<const X*>(a.x) + c;
  const int8_t* residual = kResidual ? static_cast<const int8_t*>(a.residual) + c : nullptr;
  int8_t* y = static_cast<int8_t*>(a.y) + c;
  const int64_t apart = a.channels;  // not read again where bytes were written
  const int16x8_t low = vdupq_n_s16(int16_t(a.low)), high = vdupq_n_s16(int16_t(a.high));
  const int16x8_t times = vdupq_n_s16(int16_t(1 << scale.up));
  const Narrow8 factor = all8(int32_t(a.residual_factor));
  const Wide8 added = all8_wide(scale.added);
  const int32x4_t down = vdupq_n_s32(-int32_t(scale.down));
  int64_t outside = 0;
  for (int64_t start = 0; start < a.rows; start += kRowsCounted) {
    const int64_t rows = min_of(kRowsCounted, a.rows - start);
    int16x8_t inside = vdupq_n_s16(0);
    for (const int8_t* end = y + rows * apart; y != end; x += apart, y += apart) {
      const Narrow8 own = load_times(x, clipped, kClips, times);
      Wide8 sum = multiply_add(constant, own, slope);
      if (kResidual) {
        sum = multiply_add(sum, load_times(residual, times), factor);
        residual += apart;
      }
      for (int k = 0; k < 4; ++k) sum.v[k] = vsraq_n_s64(sum.v[k], sum.v[k], 63);
      Narrow8 whole = high_halves(sum, added);
      if (kDown)
        for (int k = 0; k < 2; ++k) whole.v[k] = vshlq_s32(whole.v[k], down);
      const int16x8_t value = vqmovn_high_s32(vqmovn_s32(whole.v[0]), whole.v[1]);
      const int16x8_t result = vminq_s16(vmaxq_s16(value, low), high);
      inside = vaddq_s16(inside, vreinterpretq_s16_u16(vceqq_s16(result, value)));
      vst1_s8(y, vmovn_s16(result));
    }
    outside += 8 * rows + vaddlvq_s16(inside);
  }
  return outside;
}

// x of 16 or 32 bits, a shortcut of bytes or none, channels by eights. Tells whether it did the work.
template <class X, bool kClips = false>
bool affine_bytes(const AffineArgs& a, ClippedTo clipped) {
  constexpr int64_t zero = 1 << 12;
  const bool residual = a.residual;
  const BytesScale scale = {max_of(32 - a.shift, 0), max_of(a.shift - 32, 0),
                            (int64_t(1) << (max_of(a.shift, 32) - 1)) + left(a.y_zero, max_of(a.shift, 32))};
  const int64_t slope_up = sizeof(X) == 4 ? scale.up : 0;
  if (a.channels % 8 || a.y_type != BR_INT8 || (residual && a.residual_type != BR_INT8) || a.shift < 20 ||
      a.shift > (sizeof(X) == 4 ? 50 : 32) || a.low < INT8_MIN || a.low > a.high || a.high > INT8_MAX ||
      absolute(a.y_zero) > zero || absolute(a.x_zero) > (sizeof(X) == 4 ? 0 : zero) ||
      absolute(a.residual_zero) > zero || a.residual_factor != int32_t(a.residual_factor))
    return false;
  // Each of three terms is below 2^60: of 16 bits times 2^12 times 2^31, of 32 bits times the slope, and b.
  int64_t slope = 0, offset = 0;
  for (int64_t c = 0; c < a.channels; ++c) slope |= absolute(a.a[c]), offset |= absolute(a.b[c]);
  if (offset < 0 || bit_length(offset) + scale.up > 59 || bit_length(slope) + slope_up > (sizeof(X) == 4 ? 29 : 31))
    return false;
  int64_t outside = 0;
  for (int64_t c = 0; c < a.channels; c += 8) {
    int64_t constant[8];
    int32_t slopes[8];
    for (int64_t k = 0; k < 8; ++k) {
      slopes[k] = int32_t(left(a.a[c + k], slope_up));
      constant[k] =
          left(a.b[c + k] - a.x_zero * a.a[c + k] - (residual ? a.residual_zero * a.residual_factor : 0), scale.up);
    }
    const auto run =
        residual ? byte_column<X, sizeof(X) == 4, true, kClips> : byte_column<X, sizeof(X) == 4, false, kClips>;
    outside += run(a, scale, clipped, c, load8(slopes), load8(constant));
  }
  *a.saturated = add(*a.saturated, outside);
  return true;
}

}  // namespace
}  // namespace bitreplay
