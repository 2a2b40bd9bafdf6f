// Sums of 16 or 32 bits to bytes of another scale, in lanes; equal to Rescaled (tiles.h) where it tells that it fits.
#pragma once
#include "arithmetic/tiles.h"
#include "kernels/lanes/lanes32.h"

namespace bitreplay {
namespace {

// |x - x_zero| <= bound for every x that comes. The product is made 2^up times as large; the high half of it and of a
// half of the last unit, together at most 1.5 2^62, is shifted by `down`.
struct RescaleLanes {
  const Rescaled& rescaled;
  int64_t up, down;
  bool fits;

  RescaleLanes(const Rescaled& r, int64_t bound)
      : rescaled(r), up(max_of(32 - r.stored.shift, 0)), down(max_of(r.stored.shift - 32, 0)), fits(false) {
    const Stored& to = r.stored;
    if (!BR_LANES32 || to.shift < 16 || to.shift > kLargestShift || bound >= int64_t(1) << (31 - up)) return;
    if (absolute(r.x_zero) >= int64_t(1) << 30 || absolute(to.zero) > 1 << 28) return;
    fits = r.mantissa == int32_t(r.mantissa) && r.mantissa != INT32_MIN && to.low <= to.high &&
           to.low == int32_t(to.low) && to.high == int32_t(to.high);
  }

#if BR_LANES32
  template <class X>
  void operator()(const X* x, int64_t count, int8_t* y) const {
    const Stored& to = rescaled.stored;
    const Lanes x_zero = all_lanes(int32_t(rescaled.x_zero)), factor = all_lanes(int32_t(rescaled.mantissa));
    const Lanes low = all_lanes(int32_t(to.low)), high = all_lanes(int32_t(to.high)),
                zero = all_lanes(int32_t(to.zero));
    const Wide half = all_wide(int64_t(1) << (max_of(to.shift, 32) - 1));
    const auto some = [&](auto width, int64_t at) {
      const Wide sum = ((width.load(x + at) - x_zero) << up) * factor + half;
      const Lanes exact = (high_lanes(less_one_below(sum, half)) >> down) + zero;
      width.store(y + at, smaller(larger(exact, low), high));
    };
    int64_t at = 0;
    for (; at + kLanes <= count; at += kLanes) some(Whole(), at);
    if (at < count) some(Rest{count - at}, at);
  }
#else
  template <class X>
  void operator()(const X*, int64_t, int8_t*) const {}
#endif
};

}  // namespace
}  // namespace bitreplay
