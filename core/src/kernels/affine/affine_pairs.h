// affine of sums of 16 bits to bytes by pairs of 16-bit products (pairs.h). Tells whether it did the work: it does
// where every number provably fits, so that the results are those of affine_tiles.h.
//
// Slope and residual factor are cut in halves, a = 2^16 a_high + a_low, |a_low| <= 2^15: one product of pairs gives
// x a_high + r f_high, another x a_low + r f_low. With the constant c = b and both zeros, cut alike, c_low >= 0:
//   rest = x a_low + r f_low + c_low                  at most 2^30 + 2^22 + 2^16
//   sum  = x a_high + r f_high + (rest >> 16)         the whole is 2^16 (sum + c_high) + (rest & 0xFFFF)
// To its half of 2^shift, a multiple of 2^16, comes one less where the whole is negative: that is felt only where
// the low 16 bits are 0. The result's zero is added before the shift.
#pragma once
#include "bitreplay.h"
#include "kernels/affine/affine.h"
#include "kernels/lanes/pairs.h"

namespace bitreplay {
namespace {

#if BR_PAIRS

constexpr int64_t kPairChannels = 512;  // whose numbers are held at a time

// What the channels of one vector of words need, as lanes of its two halves.
struct PairColumn {
  alignas(64) int32_t high[2][kLanes], low[2][kLanes], rest[2][kLanes], constant[2][kLanes];
};

class AffinePairs {
 public:
  AffinePairs(const AffineArgs& a, ClippedTo clipped) : a_(a), clipped_(clipped), down_(a.shift - 16) {
    constexpr int64_t limit = int64_t(1) << 30, widest = 2 * limit - (1 << 15) - 1;
    fits_ = a.shift >= 17 && a.shift <= 46 && a.low >= INT8_MIN && a.low <= a.high && a.high <= INT8_MAX &&
            within(a.x_zero, limit) && within(a.residual_zero, limit) && within(a.y_zero, limit) &&
            within(factor(), widest);
    if (!fits_) return;
    int64_t slope = 0;
    for (int64_t i = 0; i < a.channels; ++i) slope = max_of(slope, absolute(a.a[i]));
    const int64_t products = ((slope >> 16) + 1) * (1 << 15) + ((absolute(factor()) >> 16) + 1) * (1 << 7) + (1 << 16);
    const int64_t added = (int64_t(1) << (down_ - 1)) + left(absolute(a.y_zero), down_);
    fits_ = slope <= widest;
    for (int64_t i = 0; i < a.channels && fits_; ++i)
      fits_ = within(a.b[i], limit * limit) && (absolute(constant(i)) >> 16) + 1 + added + products < 2 * limit;
  }

  bool fits() const { return fits_; }

  void run() {
    for (int64_t first = 0; first < a_.channels; first += kPairChannels) {
      const int64_t channels = min_of(kPairChannels, a_.channels - first);
      prepare(first, channels);
      over_columns_of_words(channels, [&](int64_t start, int64_t rows, int64_t channel) {
        const int64_t count = min_of(kWords, channels - channel);
        if (count < kWords) outside_ += run_rest(start, rows, first + channel, count, columns_[channel / kWords]);
        else outside_ += run_column(start, rows, first + channel, columns_[channel / kWords]);
      });
    }
    *a_.saturated = add(*a_.saturated, outside_);
  }

 private:
  static bool within(int64_t x, int64_t limit) { return -limit <= x && x <= limit; }
  int64_t factor() const { return a_.residual ? a_.residual_factor : 0; }
  int64_t constant(int64_t channel) const {
    return a_.b[channel] - a_.x_zero * a_.a[channel] - (a_.residual ? a_.residual_zero * factor() : 0);
  }
  static int32_t upper(int64_t x) { return int32_t((x + (1 << 15)) >> 16); }
  static int32_t pair(int64_t a, int64_t f) { return int32_t(uint32_t(a & 0xFFFF) | uint32_t(f) << 16); }

  // Lanes behind the last channel are 0.
  void prepare(int64_t first, int64_t channels) {
    const int32_t f_high = upper(factor()), f_low = int32_t(factor() - (int64_t(f_high) << 16));
    for (int64_t column = 0; column * kWords < channels; ++column) {
      PairColumn& to = columns_[column];
      for (int64_t half = 0; half < 2; ++half) {
        for (int64_t lane = 0; lane < kLanes; ++lane) {
          const int64_t channel = column * kWords + woven(half, lane), there = channel < channels;
          const int64_t slope = there ? a_.a[first + channel] : 0, c = there ? constant(first + channel) : 0;
          const int32_t a_high = upper(slope), c_high = int32_t(c >> 16);
          to.high[half][lane] = there ? pair(a_high, f_high) : 0;
          to.low[half][lane] = there ? pair(slope - (int64_t(a_high) << 16), f_low) : 0;
          to.rest[half][lane] = int32_t(c & 0xFFFF);
          to.constant[half][lane] = there ? int32_t(c_high + (int64_t(1) << (down_ - 1)) + left(a_.y_zero, down_)) : 0;
        }
      }
    }
  }

  // Vectors of channels, a few rows at a time: body(first row, rows, first channel).
  template <class Body>
  void over_columns_of_words(int64_t channels, Body body) const {
    for (int64_t start = 0; start < a_.rows; start += kRowsTogether)
      for (int64_t channel = 0; channel < channels; channel += kWords)
        body(start, min_of(kRowsTogether, a_.rows - start), channel);
  }

  // The numbers of half a vector's channels, in registers while its rows go by.
  struct Half {
    Lanes high, low, rest, constant;

    Half(const PairColumn& from, int half)
        : high(load_lanes(from.high[half])), low(load_lanes(from.low[half])), rest(load_lanes(from.rest[half])),
          constant(load_lanes(from.constant[half])) {}
    Lanes operator()(Words pairs, Lanes zero, int64_t down) const {
      const Lanes below = add_dot(rest, pairs, low);
      const Lanes value = add_dot(below >> 16, pairs, high) + constant;
      return less_one_where(value, zero, below) >> down;
    }
  };

  // Where the whole is 0.
  Lanes zero() const { return all_lanes(int32_t((int64_t(1) << (down_ - 1)) + left(a_.y_zero, down_))); }

  int64_t run_column(int64_t start, int64_t rows, int64_t channel, const PairColumn& column) const {
    const bool clips = clipped_.low > INT16_MIN || clipped_.high < INT16_MAX;
    if (clips && a_.residual) return run_column<true, true>(start, rows, channel, column);
    if (clips) return run_column<false, true>(start, rows, channel, column);
    if (a_.residual) return run_column<true, false>(start, rows, channel, column);
    return run_column<false, false>(start, rows, channel, column);
  }

  template <bool kResidual, bool kClips>
  int64_t run_column(int64_t start, int64_t rows, int64_t channel, const PairColumn& column) const {
    const int64_t at = start * a_.channels + channel;
    const int16_t* x = static_cast<const int16_t*>(a_.x) + at;
    const int8_t* residual = kResidual ? static_cast<const int8_t*>(a_.residual) + at : nullptr;
    int8_t* y = static_cast<int8_t*>(a_.y) + at;
    const Words lowest = all_words(int16_t(a_.low)), highest = all_words(int16_t(a_.high));
    const Words least = all_words(clipped_.low), most = all_words(clipped_.high);
    const Lanes limit = zero();
    const Half first(column, 0), second(column, 1);
    int64_t outside = 0;
    for (int64_t row = 0; row < rows * a_.channels; row += a_.channels) {
      Words own = load_words(x + row);
      if (kClips) own = smaller(larger(own, least), most);
      const Words other = kResidual ? load_words(residual + row) : all_words(0);
      const Words exact =
          pack(first(weave_low(own, other), limit, down_), second(weave_high(own, other), limit, down_));
      const Words clipped = smaller(larger(exact, lowest), highest);
      outside += count_unequal(exact, clipped);
      store_bytes(y + row, clipped);
    }
    return outside;
  }

  template <class T>
  static Words load_some(const T* from, int64_t count) {
    T all[kWords] = {};
    memcpy(all, from, size_t(count) * sizeof(T));
    return load_words(all);
  }

  // The channels behind the last whole vector.
  int64_t run_rest(int64_t start, int64_t rows, int64_t channel, int64_t count, const PairColumn& column) const {
    const Words lowest = all_words(int16_t(a_.low)), highest = all_words(int16_t(a_.high));
    const Half first(column, 0), second(column, 1);
    int16_t ones[kWords];
    for (int64_t i = 0; i < kWords; ++i) ones[i] = i < count ? -1 : 0;
    int64_t outside = 0;
    for (int64_t row = start; row < start + rows; ++row) {
      const int64_t at = row * a_.channels + channel;
      const Words x = load_some(static_cast<const int16_t*>(a_.x) + at, count);
      const Words own = smaller(larger(x, all_words(clipped_.low)), all_words(clipped_.high));
      const Words other = a_.residual ? load_some(static_cast<const int8_t*>(a_.residual) + at, count) : all_words(0);
      const Words exact =
          pack(first(weave_low(own, other), zero(), down_), second(weave_high(own, other), zero(), down_));
      const Words clipped = smaller(larger(exact, lowest), highest);
      outside += count_unequal(exact & load_words(ones), clipped & load_words(ones));
      int8_t some[kWords];
      store_bytes(some, clipped);
      memcpy(static_cast<int8_t*>(a_.y) + at, some, size_t(count));
    }
    return outside;
  }

  const AffineArgs& a_;
  const ClippedTo clipped_;
  const int64_t down_;
  bool fits_;
  int64_t outside_ = 0;
  PairColumn columns_[kPairChannels / kWords];
};

bool affine_pairs(const AffineArgs& a, ClippedTo clipped = {INT16_MIN, INT16_MAX}) {
  if (a.x_type != BR_INT16 || a.y_type != BR_INT8 || (a.residual && a.residual_type != BR_INT8)) return false;
  AffinePairs pairs(a, clipped);
  if (!pairs.fits()) return false;
  pairs.run();
  return true;
}

#endif

}  // namespace
}  // namespace bitreplay
