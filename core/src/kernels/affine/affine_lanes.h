// affine in 32-bit lanes with 64-bit products (lanes32.h). Tells whether it did the work: it does where every number
// provably fits, so that the results are those of affine_tiles.h.
#pragma once
#include "bitreplay.h"
#include "kernels/affine/affine.h"
#include "kernels/lanes/lanes32.h"

namespace bitreplay {
namespace {

// How x a + b + residual factor, each with its zero, becomes a number of 32 bits: it is made 2^up times as large, and
// the high half of the sum is shifted by `down`.
struct AffineScale {
  int64_t up, down, half;
  bool fits;

  AffineScale(const AffineArgs& a, int64_t x_bits, int64_t residual_bits)
      : up(max_of(32 - a.shift, 0)), down(max_of(a.shift - 32, 0)), half(0), fits(false) {
    constexpr int64_t limit = int64_t(1) << 30;
    if (a.shift < 16 || a.shift > kLargestShift || (up && x_bits > 16)) return;
    if (absolute(a.x_zero) > limit || absolute(a.residual_zero) > limit || absolute(a.y_zero) > limit / 2) return;
    if (a.residual_factor != int32_t(a.residual_factor)) return;
    if (a.low > a.high || a.low != int32_t(a.low) || a.high != int32_t(a.high)) return;
    int64_t slope = 0, lowest = 0, highest = 0;
    for (int64_t i = 0; i < a.channels; ++i) {
      slope = max_of(slope, absolute(a.a[i]));
      lowest = min_of(lowest, a.b[i]);
      highest = max_of(highest, a.b[i]);
    }
    if (lowest < -2 * limit * limit || highest > 2 * limit * limit) return;
    // A quarter of the largest sum, so that each term fits. 2^up times the sum is at most 2^62, a half of the last unit
    // at most 2^61; the high half of both, shifted, is at most 2^30.
    const int64_t quarter =
        (((int64_t(1) << (x_bits - 1)) + absolute(a.x_zero)) * slope >> 2) + (max_of(-lowest, highest) >> 2) + 3 +
        (((int64_t(1) << (residual_bits - 1)) + absolute(a.residual_zero)) * absolute(a.residual_factor) >> 2);
    half = int64_t(1) << (max_of(a.shift, 32) - 1);
    fits = quarter <= limit * limit >> up;
  }
};

template <class X, class Y, bool kResidual>
bool affine_columns(const AffineArgs& a) {
  const AffineScale scale(a, 8 * sizeof(X), 8 * sizeof(Y));
  if (!scale.fits) return false;
  const X* x = static_cast<const X*>(a.x);
  const Y* residual = static_cast<const Y*>(a.residual);
  Y* y = static_cast<Y*>(a.y);
  const Lanes x_zero = all_lanes(int32_t(a.x_zero)), factor = all_lanes(int32_t(a.residual_factor));
  const Lanes low = all_lanes(int32_t(a.low)), high = all_lanes(int32_t(a.high)), y_zero = all_lanes(int32_t(a.y_zero));
  const Wide half = all_wide(scale.half), shortcut = all_wide(kResidual ? a.residual_zero * a.residual_factor : 0);
  int64_t left_range = 0;
  over_columns(a.rows, a.channels, [&](auto width, int64_t first, int64_t rows, int64_t channel) {
    const Lanes slope = width.load(a.a + channel);
    const Wide zeros = x_zero * slope + shortcut;
    const Wide constant = shift_left(width.load_wide(a.b + channel) - zeros, scale.up) + half;
    Lanes outside = all_lanes(0);
    for (int64_t row = first; row < first + rows; ++row) {
      const int64_t at = row * a.channels + channel;
      Wide sum = (width.load(x + at) << scale.up) * slope + constant;
      if (kResidual) sum = sum + (width.load(residual + at) << scale.up) * factor;
      // Ties go away from 0: one less where the number, without the half, is negative.
      const Lanes exact = (high_lanes(less_one_below(sum, half)) >> scale.down) + y_zero;
      const Lanes clipped = smaller(larger(exact, low), high);
      outside = count_unequal(outside, exact, clipped);
      width.store(y + at, clipped);
    }
    int32_t counts[kLanes];
    store_lanes(counts, outside);
    for (int64_t lane = 0; lane < width.count(); ++lane) left_range += counts[lane];
  });
  *a.saturated = add(*a.saturated, left_range);
  return true;
}

template <class X, class Y>
bool affine_stored(const AffineArgs& a) {
  if (!a.residual) return affine_columns<X, Y, false>(a);
  return a.residual_type == a.y_type && affine_columns<X, Y, true>(a);
}

bool affine_lanes(const AffineArgs& a) {
  if (a.x_type == BR_INT16 && a.y_type == BR_INT8) return affine_stored<int16_t, int8_t>(a);
  if (a.x_type == BR_INT16 && a.y_type == BR_INT16) return affine_stored<int16_t, int16_t>(a);
  if (a.x_type == BR_INT32 && a.y_type == BR_INT8) return affine_stored<int32_t, int8_t>(a);
  if (a.x_type == BR_INT32 && a.y_type == BR_INT16) return affine_stored<int32_t, int16_t>(a);
  return false;
}

}  // namespace
}  // namespace bitreplay
