// affine of a convolution's sums while they are in registers (AVX2 and AVX-512), to bytes; the law's bits, as affine.h
// has them.
//
// The sums are made 2^up times as large where shift < 32, so that the result stands in the high half of the 64-bit
// number  x a + b [+ r f]  with its zeros, half of the last unit and the result's zero, which is shifted by `down`.
// One number is enough for all of these, since whole units pass the rounding. The shortcut's factor f has up to 40 bits
// and is cut in two: r f = (r 2^18) (f >> 18) + r (f & (2^18 - 1)). Results are brought to 16 bits with saturation
// before they are clipped to bytes: what left 16 bits leaves the bytes too.
#pragma once
#include "bitreplay.h"
#include "kernels/affine/affine.h"
#include "kernels/lanes/pairs.h"

namespace bitreplay {
namespace {

#if defined(__AVX512BW__)
inline Words in_order(Lanes first, Lanes second) {
  const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
  return {_mm512_permutexvar_epi64(order, pack(first, second).v)};
}
// Stores the first `count` of the bytes `inside`, and tells how many of them differ from `exact`.
inline int64_t store_some(Words exact, Words inside, int8_t* to, int64_t count) {
  const __mmask32 there = __mmask32((uint64_t(1) << count) - 1);
  _mm256_mask_storeu_epi8(to, there, _mm512_cvtepi16_epi8(inside.v));
  return __builtin_popcount(_mm512_mask_cmpneq_epi16_mask(there, exact.v, inside.v));
}
// The first `count` of kLanes bytes; 0 behind.
inline Lanes load_some(const int8_t* from, int64_t count) {
  const __mmask16 there = __mmask16(count >= kLanes ? 0xFFFF : (1u << max_of(count, 0)) - 1);
  return {_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(there, from))};
}
inline int64_t count_equal(Lanes a, Lanes b) { return __builtin_popcount(_mm512_cmpeq_epi32_mask(a.v, b.v)); }
#else
inline int64_t count_equal(Lanes a, Lanes b) {
  return __builtin_popcount(uint32_t(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(a.v, b.v)))));
}
inline Words in_order(Lanes first, Lanes second) {
  return {_mm256_permute4x64_epi64(pack(first, second).v, 0xD8)};
}
inline int64_t store_some(Words exact, Words inside, int8_t* to, int64_t count) {
  int8_t some[kWords];
  store_bytes(some, inside);
  memcpy(to, some, size_t(count));
  const uint32_t equal = uint32_t(_mm256_movemask_epi8(_mm256_cmpeq_epi16(exact.v, inside.v)));
  return __builtin_popcount(~equal & ((1u << 2 * count) - 1)) / 2;
}
inline Lanes load_some(const int8_t* from, int64_t count) {
  return count >= kLanes ? load_lanes(from) : Rest{max_of(count, 0)}.load(from);
}
#endif

class AffineOfSums {
 public:
  static constexpr int64_t kMostChannels = 2048;

  // For the work of `a` where every |x| <= largest, if it fits(). In order, or woven (pairs.h): then column 2 n + half
  // has those of the channels from 2 n kLanes on that lie in this half.
  AffineOfSums(const AffineArgs& a, int64_t largest, bool weave = false)
      : a_(a), up_(max_of(32 - a.shift, 0)), down_(a.shift - 32) {
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
    const Wide zeros = all_wide(zero), added = all_wide(added_);
    for (int64_t channel = 0; channel < a.channels; channel += kLanes) {
      const int32_t* slopes = a.a + channel;
      const int64_t* constants = a.b + channel;
      int32_t some_slopes[kLanes];
      int64_t some_constants[kLanes];
      if (weave || channel + kLanes > a.channels) {
        const int64_t half = channel / kLanes % 2;
        for (int64_t lane = 0; lane < kLanes; ++lane) {
          const int64_t own = channel + (weave ? woven(half, lane) - half * kLanes : lane);
          some_slopes[lane] = own < a.channels ? a.a[own] : 0;
          some_constants[lane] = own < a.channels ? a.b[own] : 0;
        }
        slopes = some_slopes;
        constants = some_constants;
      }
      columns_[channel / kLanes] = {load_lanes(slopes), shift_left(load_wide(constants) - zeros, up_) + added};
    }
  }

  bool fits() const { return fits_; }
  bool raises() const { return up_ > 0; }

  // What stays in registers while sums go by; kRaise: as raises() says.
  template <bool kRaise, bool kResidual>
  struct Finish {
    const Wide limit;
    const Words low, high;
    const Lanes lowest, highest, upper, lower;
    const int64_t up, down;
    int64_t outside = 0;  // how many numbers were saturated

    explicit Finish(const AffineOfSums& from)
        : limit(all_wide(from.added_)), low(all_words(int16_t(from.a_.low))), high(all_words(int16_t(from.a_.high))),
          lowest(all_lanes(int32_t(from.a_.low))), highest(all_lanes(int32_t(from.a_.high))),
          upper(all_lanes(int32_t(from.a_.residual_factor >> 18))),
          lower(all_lanes(int32_t(from.a_.residual_factor & ((1 << 18) - 1)))), up(from.up_), down(from.down_) {}
  };

  // What kLanes channels, from kLanes * number on, need. Copies of it and of Finish stay in registers, which what they
  // are copied from would not: bytes that are stored might be part of it.
  struct Column {
    Lanes slope;
    Wide constant;
  };
  Column column(int64_t number) const { return columns_[number]; }

  // The results of their sums; residual: those of the shortcut.
  template <bool kRaise, bool kResidual>
  static inline __attribute__((always_inline)) Lanes exact(const Finish<kRaise, kResidual>& with, const Column& own,
                                                           Lanes sums, Lanes residual) {
    Wide total = (kRaise ? sums << with.up : sums) * own.slope + own.constant;
    if (kResidual) {
      if (kRaise) residual = residual << with.up;
      total = total + (residual << 18) * with.upper + residual * with.lower;
    }
    // Ties go away from 0: one less where the number, without what was added, is negative.
    const Lanes whole = high_lanes(less_one_below(total, with.limit));
    return kRaise ? whole : whole >> with.down;
  }

  // The results of 2 * kLanes neighbours as bytes, of which the first `count` are there.
  template <bool kRaise, bool kResidual>
  static inline __attribute__((always_inline)) void store(Finish<kRaise, kResidual>& with, Lanes first, Lanes second,
                                                          int8_t* to, int64_t count = kWords) {
    store(with, in_order(first, second), to, count);
  }
  template <bool kRaise, bool kResidual>
  static inline __attribute__((always_inline)) void store(Finish<kRaise, kResidual>& with, Words exact, int8_t* to,
                                                          int64_t count = kWords) {
    const Words inside = smaller(larger(exact, with.low), with.high);
    if (count >= kWords) {
      with.outside += count_unequal(exact, inside);
      return store_bytes(to, inside);
    }
    with.outside += store_some(exact, inside, to, count);
  }

  // The results of kLanes neighbours.
  template <bool kRaise, bool kResidual>
  static inline __attribute__((always_inline)) void store_one(Finish<kRaise, kResidual>& with, Lanes exact,
                                                              int8_t* to) {
    const Lanes inside = smaller(larger(exact, with.lowest), with.highest);
    with.outside += kLanes - count_equal(exact, inside);
    store_lanes(to, inside);
  }

  void count(int64_t outside) const { *a_.saturated = add(*a_.saturated, outside); }

 private:
  const AffineArgs& a_;
  const int64_t up_, down_;
  int64_t added_ = 0;
  bool fits_;
  Column columns_[kMostChannels / kLanes];
};

}  // namespace
}  // namespace bitreplay
