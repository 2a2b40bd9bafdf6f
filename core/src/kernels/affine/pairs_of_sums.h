// affine of sums of 16 bits to bytes by pairs of 16-bit products (pairs.h), where every number provably fits.
//
// Slope and residual factor are cut in halves, a = 2^16 a_high + a_low, |a_low| <= 2^15: one product of pairs gives
// x a_high + r f_high, another x a_low + r f_low. With the constant c = b and both zeros, cut alike, c_low >= 0:
//   rest = x a_low + r f_low + c_low                  at most 2^30 + 2^22 + 2^16
//   sum  = x a_high + r f_high + (rest >> 16)         the whole is 2^16 (sum + c_high) + (rest & 0xFFFF)
// To its half of 2^shift, a multiple of 2^16, comes one less where the whole is negative: that is felt only where
// the low 16 bits are 0, which few numbers have: a vector without one goes on. The result's zero is added before the
// shift.
#pragma once
#include <cstddef>

#include "bitreplay.h"
#include "kernels/affine/affine.h"
#include "kernels/lanes/pairs.h"

namespace bitreplay {
namespace {

#if BR_PAIRS

// What the channels of one vector of words need, as lanes of its two halves.
struct PairColumn {
  alignas(64) int32_t high[2][kLanes], low[2][kLanes], rest[2][kLanes], constant[2][kLanes];
};

// Those of all channels, made once where a and b are constant.
struct PairsOfSums {
  int64_t fits;
  PairColumn columns[1];

  // Whether it fits.
  static bool serves(const AffineArgs& a) {
    constexpr int64_t limit = int64_t(1) << 30, widest = 2 * limit - (1 << 15) - 1;
    const bool fits = is_of_sums(a) && a.shift >= 17 && a.shift <= 46 && a.low >= INT8_MIN && a.low <= a.high &&
                      a.high <= INT8_MAX && within(a.x_zero, limit) && within(a.residual_zero, limit) &&
                      within(a.y_zero, limit) && within(factor(a), widest);
    if (!fits) return false;
    int64_t slope = 0;
    for (int64_t i = 0; i < a.channels; ++i) slope = max_of(slope, absolute(a.a[i]));
    if (slope > widest) return false;
    const int64_t products = ((slope >> 16) + 1) * (1 << 15) + ((absolute(factor(a)) >> 16) + 1) * (1 << 7) + (1 << 16);
    const int64_t down = a.shift - 16, added = (int64_t(1) << (down - 1)) + left(absolute(a.y_zero), down);
    for (int64_t i = 0; i < a.channels; ++i)
      if (!within(a.b[i], limit * limit) || (absolute(constant(a, i)) >> 16) + 1 + added + products >= 2 * limit)
        return false;
    return true;
  }

  // Of some channels; lanes behind the last are 0. There is room.
  static void fill(const AffineArgs& a, int64_t first, int64_t channels, PairColumn* columns) {
    const int32_t f_high = upper(factor(a)), f_low = int32_t(factor(a) - (int64_t(f_high) << 16));
    for (int64_t column = 0; column * kWords < channels; ++column) {
      PairColumn& to = columns[column];
      for (int64_t half = 0; half < 2; ++half) {
        for (int64_t lane = 0; lane < kLanes; ++lane) {
          const int64_t channel = column * kWords + woven(half, lane), there = channel < channels;
          const int64_t slope = there ? a.a[first + channel] : 0, c = there ? constant(a, first + channel) : 0;
          const int32_t a_high = upper(slope);
          to.high[half][lane] = there ? pair(a_high, f_high) : 0;
          to.low[half][lane] = there ? pair(slope - (int64_t(a_high) << 16), f_low) : 0;
          to.rest[half][lane] = int32_t(c & 0xFFFF);
          to.constant[half][lane] = there ? int32_t((c >> 16) + zero(a)) : 0;
        }
      }
    }
  }

  static uint64_t bytes_of(const AffineArgs& a) {
    const uint64_t columns = uint64_t((a.channels + kWords - 1) / kWords);
    return is_of_sums(a) ? offsetof(PairsOfSums, columns) + columns * sizeof(PairColumn) : 0;
  }
  static void make(const AffineArgs& a, uint8_t* prepared) {
    PairsOfSums& to = *reinterpret_cast<PairsOfSums*>(prepared);
    to.fits = serves(a);
    if (to.fits) fill(a, 0, a.channels, to.columns);
  }

  // Where the whole is 0.
  static int64_t zero(const AffineArgs& a) { return (int64_t(1) << (a.shift - 17)) + left(a.y_zero, a.shift - 16); }

 private:
  static bool is_of_sums(const AffineArgs& a) {
    return a.x_type == BR_INT16 && a.y_type == BR_INT8 && (a.residual_type < 0 || a.residual_type == BR_INT8);
  }
  static bool within(int64_t x, int64_t limit) { return -limit <= x && x <= limit; }
  static int64_t factor(const AffineArgs& a) { return a.residual_type >= 0 ? a.residual_factor : 0; }
  static int64_t constant(const AffineArgs& a, int64_t channel) {
    return a.b[channel] - a.x_zero * a.a[channel] - a.residual_zero * factor(a);
  }
  static int32_t upper(int64_t x) { return int32_t((x + (1 << 15)) >> 16); }
  static int32_t pair(int64_t a, int64_t f) { return int32_t(uint32_t(a & 0xFFFF) | uint32_t(f) << 16); }
};

// Makes results of sums that are at hand, and counts those that left the range.
class PairResults {
 public:
  // The numbers of a vector's channels, in registers while its rows go by.
  struct Numbers {
    Lanes high[2], low[2], rest[2], constant[2];

    __attribute__((always_inline)) explicit Numbers(const PairColumn& from) {
      for (int half = 0; half < 2; ++half) {
        high[half] = load_lanes(from.high[half]), low[half] = load_lanes(from.low[half]);
        rest[half] = load_lanes(from.rest[half]), constant[half] = load_lanes(from.constant[half]);
      }
    }
  };

  PairResults(const AffineArgs& a, ClippedTo clipped)
      : least_(all_words(clipped.low)), most_(all_words(clipped.high)), lowest_(all_words(int16_t(a.low))),
        highest_(all_words(int16_t(a.high))), zero_(all_lanes(int32_t(PairsOfSums::zero(a)))), down_(a.shift - 16),
        residual_(static_cast<const int8_t*>(a.residual)), y_(static_cast<int8_t*>(a.y)) {}

  // Of kWords channels of a row, the first of them element `at` of the map.
  template <bool kResidual>
  __attribute__((always_inline)) void make(Words sums, int64_t at, const Numbers& numbers) {
    const Words exact = results(sums, kResidual ? load_words(residual_ + at) : all_words(0), numbers);
    const Words inside = smaller(larger(exact, lowest_), highest_);
    outside_ += count_unequal(exact, inside);
    store_bytes(y_ + at, inside);
  }

  // Of the first `count` of them.
  void make_some(Words sums, int64_t at, int64_t count, const Numbers& numbers) {
    const Words exact = results(sums, residual_ ? load_some(residual_ + at, count) : all_words(0), numbers);
    const Words inside = smaller(larger(exact, lowest_), highest_);
    int16_t ones[kWords];
    for (int64_t i = 0; i < kWords; ++i) ones[i] = i < count ? -1 : 0;
    outside_ += count_unequal(exact & load_words(ones), inside & load_words(ones));
    int8_t some[kWords];
    store_bytes(some, inside);
    memcpy(y_ + at, some, size_t(count));
  }

  template <class T>
  static Words load_some(const T* from, int64_t count) {
    T all[kWords] = {};
    memcpy(all, from, size_t(count) * sizeof(T));
    return load_words(all);
  }

  int64_t outside() const { return outside_; }

 private:
  __attribute__((always_inline)) Words results(Words sums, Words residual, const Numbers& numbers) const {
    const Words own = smaller(larger(sums, least_), most_);
    const Words pairs[2] = {weave_low(own, residual), weave_high(own, residual)};
    Lanes rest[2], value[2];
    for (int half = 0; half < 2; ++half) {
      rest[half] = add_dot(numbers.rest[half], pairs[half], numbers.low[half]);
      value[half] = add_dot(rest[half] >> 16, pairs[half], numbers.high[half]) + numbers.constant[half];
    }
    if (__builtin_expect(some_low_zero(rest[0], rest[1]), 0))
      for (int half = 0; half < 2; ++half) value[half] = less_one_where(value[half], zero_, rest[half]);
    return pack(value[0] >> down_, value[1] >> down_);
  }

  const Words least_, most_, lowest_, highest_;
  const Lanes zero_;
  const int64_t down_;
  const int8_t* const residual_;
  int8_t* const y_;
  int64_t outside_ = 0;
};

#endif

}  // namespace
}  // namespace bitreplay
