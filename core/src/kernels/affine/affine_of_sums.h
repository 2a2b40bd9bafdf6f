// affine of a convolution's sums while they are in registers (lanes32.h), to bytes; the law's bits, as affine.h has them.
//
// The sums are made 2^up times as large where shift < 32, so that the result stands in the high half of the 64-bit
// number  x a + b [+ r f]  with its zeros, half of the last unit and the result's zero, which is shifted by `down`.
// One number is enough for all of these, since whole units pass the rounding. The shortcut's factor f has up to 40 bits
// and is cut in two: r f = (r 2^18) (f >> 18) + r (f & (2^18 - 1)).
#pragma once
#include "bitreplay.h"
#include "kernels/affine/affine.h"
#include "kernels/lanes/lanes32.h"

namespace bitreplay {
namespace {

class AffineOfSums {
 public:
  static constexpr int64_t kMostChannels = 2048;

  // Whether it can do the work of `a` where every |x| <= largest.
  AffineOfSums(const AffineArgs& a, int64_t largest) : a_(a), up_(max_of(32 - a.shift, 0)), down_(a.shift - 32) {
    constexpr int64_t limit = int64_t(1) << 61, byte = 1 << 8;
    fits_ = a.channels <= kMostChannels && a.x_type == BR_INT32 && a.y_type == BR_INT8 && a.x_zero == 0 &&
            a.shift >= 20 && a.shift <= 50 && (largest << up_) < int64_t(1) << 31 && a.low >= INT8_MIN &&
            a.low <= a.high && a.high <= INT8_MAX && absolute(a.y_zero) <= byte;
    if (a.residual)
      fits_ = fits_ && a.residual_type == BR_INT8 && up_ <= 4 && absolute(a.residual_zero) <= byte &&
              absolute(a.residual_factor) < int64_t(1) << 40;
    if (!fits_) return;
    int64_t slope = 0, lowest = 0, highest = 0;
    for (int64_t i = 0; i < a.channels; ++i) {
      slope = max_of(slope, absolute(a.a[i]));
      lowest = min_of(lowest, a.b[i]);
      highest = max_of(highest, a.b[i]);
    }
    // At most 2^62 + 2^60 + 2^49; what is added to 2^up times that is at most 2^58 + 2^49.
    fits_ = lowest > -limit / 2 && highest < limit / 2 &&
            largest * slope + max_of(-lowest, highest) + (int64_t(1) << 49) <= limit >> up_;
    if (!fits_) return;
    added_ = (int64_t(1) << (max_of(a.shift, 32) - 1)) + a.y_zero * (int64_t(1) << max_of(a.shift, 32));
    const int64_t zero = a.residual ? a.residual_zero * a.residual_factor : 0;
    for (int64_t channel = 0; channel < a.channels; channel += kLanes) {
      const int64_t count = min_of(kLanes, a.channels - channel);
      Column& to = columns_[channel / kLanes];
      const Rest some = {count};
      to.slope = count == kLanes ? load_lanes(a.a + channel) : some.load(a.a + channel);
      const Wide b = count == kLanes ? load_wide(a.b + channel) : some.load_wide(a.b + channel);
      to.constant = shift_left(b - all_wide(zero), up_) + all_wide(added_);
    }
  }

  bool fits() const { return fits_; }
  bool raises() const { return up_ > 0; }

  // What stays in registers while sums go by; kRaise: as raises() says.
  template <bool kRaise, bool kResidual>
  struct Finish {
    const Wide limit;
    const Lanes low, high, upper, lower;
    const int64_t up, down;
    Lanes outside = all_lanes(0);  // how many numbers were saturated, by lane

    explicit Finish(const AffineOfSums& from)
        : limit(all_wide(from.added_)), low(all_lanes(int32_t(from.a_.low))), high(all_lanes(int32_t(from.a_.high))),
          upper(all_lanes(int32_t(from.a_.residual_factor >> 18))),
          lower(all_lanes(int32_t(from.a_.residual_factor & ((1 << 18) - 1)))), up(from.up_), down(from.down_) {}
  };

  // The results of kLanes sums of the channels from kLanes * column on; residual: those of the shortcut.
  template <bool kRaise, bool kResidual>
  inline __attribute__((always_inline)) Lanes exact(const Finish<kRaise, kResidual>& with, int64_t column, Lanes sums,
                                                    Lanes residual) const {
    const Column& own = columns_[column];
    Wide total = (kRaise ? sums << with.up : sums) * own.slope + own.constant;
    if (kResidual) {
      if (kRaise) residual = residual << with.up;
      total = total + (residual << 18) * with.upper + residual * with.lower;
    }
    // Ties go away from 0: one less where the number, without what was added, is negative.
    const Lanes whole = high_lanes(less_one_below(total, with.limit));
    return kRaise ? whole : whole >> with.down;
  }

  template <bool kRaise, bool kResidual>
  static inline __attribute__((always_inline)) Lanes clipped(Finish<kRaise, kResidual>& with, Lanes exact) {
    const Lanes inside = smaller(larger(exact, with.low), with.high);
    with.outside = count_unequal(with.outside, exact, inside);
    return inside;
  }

  template <bool kRaise, bool kResidual>
  void count(const Finish<kRaise, kResidual>& with) const {
    int32_t counts[kLanes];
    store_lanes(counts, with.outside);
    int64_t all = 0;
    for (int64_t lane = 0; lane < kLanes; ++lane) all += counts[lane];
    *a_.saturated = add(*a_.saturated, all);
  }

 private:
  struct Column {
    Lanes slope;
    Wide constant;
  };

  const AffineArgs& a_;
  const int64_t up_, down_;
  int64_t added_ = 0;
  bool fits_;
  Column columns_[kMostChannels / kLanes];
};

}  // namespace
}  // namespace bitreplay
