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
// Whether x 2^up a + c = 0 modulo 2^bits has a solution |x| <= largest for one of eight channels. With a 2^up = 2^t odd
// there is none unless 2^t divides c; then x = -(c / 2^t) / odd modulo 2^(bits - t), and the least of these counts. The
// inverse of an odd number modulo 2^3 is itself, and each step doubles the bits that are right: 96 after five.
inline bool may_tie_of(__m512i a, __m512i c, int64_t up, int64_t bits, int64_t largest) {
  const __m512i one = _mm512_set1_epi64(1), zero = _mm512_setzero_si512();
  const __m512i whole = _mm512_sll_epi64(a, _mm_cvtsi64_si128(up));
  const __m512i below = _mm512_sub_epi64(_mm512_and_si512(whole, _mm512_sub_epi64(zero, whole)), one);
  const __m512i t = _mm512_popcnt_epi64(below), rest = _mm512_and_si512(c, _mm512_set1_epi64((int64_t(1) << bits) - 1));
  const __m512i odd = _mm512_srav_epi64(whole, t);
  __m512i inverse = odd;
  for (int step = 0; step < 5; ++step)
    inverse = _mm512_mullo_epi64(inverse, _mm512_sub_epi64(_mm512_set1_epi64(2), _mm512_mullo_epi64(odd, inverse)));
  const __m512i least = _mm512_sub_epi64(zero, _mm512_mullo_epi64(_mm512_srlv_epi64(rest, t), inverse));
  const __m512i unused = _mm512_add_epi64(t, _mm512_set1_epi64(64 - bits));
  const __m512i x = _mm512_abs_epi64(_mm512_srav_epi64(_mm512_sllv_epi64(least, unused), unused));
  const __mmask8 divides = _mm512_testn_epi64_mask(rest, below);
  return _mm512_mask_cmple_epi64_mask(divides, x, _mm512_set1_epi64(largest)) != 0;
}
inline bool may_tie(Lanes a, Wide c, int64_t up, int64_t bits, int64_t largest) {
  const __m512i even = _mm512_srai_epi64(_mm512_slli_epi64(a.v, 32), 32), odd = _mm512_srai_epi64(a.v, 32);
  return may_tie_of(even, c.even, up, bits, largest) || may_tie_of(odd, c.odd, up, bits, largest);
}
#else
inline bool may_tie(Lanes, Wide, int64_t, int64_t, int64_t) { return true; }
inline int64_t count_equal(Lanes a, Lanes b) {
  return __builtin_popcount(uint32_t(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(a.v, b.v)))));
}
inline Words in_order(Lanes first, Lanes second) { return {_mm256_permute4x64_epi64(pack(first, second).v, 0xD8)}; }
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
      Column& own = columns_[channel / kLanes];
      own = {load_lanes(slopes), shift_left(load_wide(constants) - zeros, up_) + added};
      ties_ = ties_ || a.residual || may_tie(own.slope, own.constant, up_, max_of(a.shift, 32), largest);
    }
  }

  bool fits() const { return fits_; }
  bool raises() const { return up_ > 0; }
  // Whether a sum may lie at half a unit: where none can, how such ones are rounded does not matter.
  bool ties() const { return ties_; }

  // What stays in registers while sums go by; kRaise and kTies: as raises() and ties() say.
  template <bool kRaise, bool kResidual, bool kTies = true>
  struct Finish {
    static constexpr bool raise = kRaise, residual = kResidual, ties = kTies;
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
  template <class With>
  static inline __attribute__((always_inline)) Lanes exact(const With& with, const Column& own, Lanes sums,
                                                           Lanes residual) {
    Wide total = (With::raise ? sums << with.up : sums) * own.slope + own.constant;
    if (With::residual) {
      if (With::raise) residual = residual << with.up;
      total = total + (residual << 18) * with.upper + residual * with.lower;
    }
    // Ties go away from 0: one less where the number, without what was added, is negative.
    const Lanes whole = high_lanes(With::ties ? less_one_below(total, with.limit) : total);
    return With::raise ? whole : whole >> with.down;
  }

  // The results of 2 * kLanes neighbours as bytes, of which the first `count` are there.
  template <class With>
  static inline __attribute__((always_inline)) void store(With& with, Lanes first, Lanes second, int8_t* to,
                                                          int64_t count = kWords) {
    store(with, in_order(first, second), to, count);
  }
  template <class With>
  static inline __attribute__((always_inline)) void store(With& with, Words exact, int8_t* to, int64_t count = kWords) {
    const Words inside = smaller(larger(exact, with.low), with.high);
    if (count >= kWords) {
      with.outside += count_unequal(exact, inside);
      return store_bytes(to, inside);
    }
    with.outside += store_some(exact, inside, to, count);
  }

  // The results of kLanes neighbours.
  template <class With>
  static inline __attribute__((always_inline)) void store_one(With& with, Lanes exact, int8_t* to) {
    const Lanes inside = smaller(larger(exact, with.lowest), with.highest);
    with.outside += kLanes - count_equal(exact, inside);
    store_lanes(to, inside);
  }

  void count(int64_t outside) const { *a_.saturated = add(*a_.saturated, outside); }

 private:
  const AffineArgs& a_;
  const int64_t up_, down_;
  int64_t added_ = 0;
  bool fits_, ties_ = false;
  Column columns_[kMostChannels / kLanes];
};

}  // namespace
}  // namespace bitreplay
