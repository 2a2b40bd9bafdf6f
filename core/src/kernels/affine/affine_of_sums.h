// affine of a convolution's sums while they are in registers (AVX2 and AVX-512), to bytes; the law's bits, as affine.h
// has them.
//
// All is made 2^up times as large where shift < 32, so that the result stands in the high half of the 64-bit number
// x a + b [+ r f]  with its zeros, half of the last unit and the result's zero, which is shifted by `down`. One number
// is enough for all of these, since whole units pass the rounding. The slopes a take `up` where they have room for it,
// the sums otherwise. The shortcut's factor f has up to 40 bits and is cut in two:
// r f = (r 2^18) (f >> 18) + r (f & (2^18 - 1)). Results are brought to 16 bits with saturation before they are clipped
// to bytes: what left 16 bits leaves the bytes too.
//
// Ties go away from 0: a sum at half a unit is one less than the number rounded down where it is negative. Where all
// sums of a channel that can lie there have one sign, 1 less in the channel's constant says the same.
//
// Products of even and of odd lanes come apart. The high halves of both are one vector by one instruction, in which the
// second and third of every four lanes have changed places: so channels stand in the Order that undoes it.
#pragma once
#include "bitreplay.h"
#include "kernels/affine/affine.h"
#include "kernels/affine/ties.h"
#include "kernels/lanes/pairs.h"

namespace bitreplay {
namespace {

// Which channel a lane has.
//    pairs    those of two vectors, 2 kLanes of them, come in order out of pack(); a last one alone as in `single`
//    single   those of each vector come in order
//    woven    as woven() says (pairs.h): nothing changes places
enum class Order { pairs, single, woven };

inline int64_t swapped(int64_t lane) { return lane - lane % 4 + (lane % 4 * 2) % 3 + lane % 4 / 3 * 3; }
inline int64_t channel_in(Order order, int64_t channels, int64_t vector, int64_t lane) {
  const bool alone = vector % 2 == 0 && (vector + 1) * kLanes >= channels;
  if (order == Order::single || (order == Order::pairs && alone)) return vector * kLanes + swapped(lane);
  return vector / 2 * kWords + woven(vector % 2, order == Order::pairs ? swapped(lane) : lane);
}

#if defined(__AVX512BW__)
inline Lanes high_swapped(Wide x) {
  return {_mm512_castps_si512(_mm512_shuffle_ps(_mm512_castsi512_ps(x.even), _mm512_castsi512_ps(x.odd), 0xDD))};
}
inline Lanes odd_lanes(Lanes x) { return {_mm512_srli_epi64(x.v, 32)}; }
inline Wide products(Lanes x, Lanes even, Lanes odd) {
  return {_mm512_mul_epi32(x.v, even.v), _mm512_mul_epi32(odd_lanes(x).v, odd.v)};
}
// Stores the first `count` of the bytes `inside`, and tells how many of them differ from `exact`.
inline int64_t store_some(Words exact, Words inside, int8_t* to, int64_t count) {
  const __mmask32 there = __mmask32((uint64_t(1) << count) - 1);
  _mm256_mask_storeu_epi8(to, there, _mm512_cvtepi16_epi8(inside.v));
  return __builtin_popcount(_mm512_mask_cmpneq_epi16_mask(there, exact.v, inside.v));
}
inline void store_two(int8_t* first, int8_t* second, Words x, Words y) {
  store_bytes(first, x);
  store_bytes(second, y);
}
// count + 1 where x and y are equal.
inline Words count_same(Words count, Words x, Words y) {
  return {_mm512_mask_sub_epi16(count.v, _mm512_cmpeq_epi16_mask(x.v, y.v), count.v, _mm512_set1_epi16(-1))};
}
inline Lanes add_pairs(Lanes sum, Words x) { return {_mm512_dpwssd_epi32(sum.v, x.v, _mm512_set1_epi16(1))}; }
inline int64_t sum_of(Lanes x) { return _mm512_reduce_add_epi32(x.v); }
inline Lanes count_same(Lanes count, Lanes x, Lanes y) {
  return {_mm512_mask_sub_epi32(count.v, _mm512_cmpeq_epi32_mask(x.v, y.v), count.v, _mm512_set1_epi32(-1))};
}
// The first `count` of the bytes, 0 behind, as two vectors of lanes in Order::pairs.
inline void load_residual(const int8_t* from, int64_t count, Lanes* first, Lanes* second) {
  const __mmask32 there = __mmask32(count >= kWords ? ~uint32_t(0) : (1u << count) - 1);
  const __m256i bytes = _mm256_maskz_loadu_epi8(there, from);
  const __m256i order = _mm256_setr_epi8(0, 2, 1, 3, 8, 10, 9, 11, 16, 18, 17, 19, 24, 26, 25, 27, 4, 6, 5, 7, 12, 14,
                                         13, 15, 20, 22, 21, 23, 28, 30, 29, 31);
  const __m256i both = _mm256_permutexvar_epi8(order, bytes);
  *first = {_mm512_cvtepi8_epi32(_mm256_castsi256_si128(both))};
  *second = {_mm512_cvtepi8_epi32(_mm256_extracti128_si256(both, 1))};
}
// In Order::single.
inline Lanes load_residual(const int8_t* from, int64_t count) {
  const __mmask16 there = __mmask16(count >= kLanes ? 0xFFFF : (1u << count) - 1);
  return {_mm512_shuffle_epi32(_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(there, from)), _MM_PERM_DBCA)};
}
inline int64_t store_some(Lanes exact, Lanes inside, int8_t* to, int64_t count) {
  const __mmask16 there = __mmask16(count >= kLanes ? 0xFFFF : (1u << count) - 1);
  _mm_mask_storeu_epi8(to, there, _mm512_cvtepi32_epi8(inside.v));
  return __builtin_popcount(_mm512_mask_cmpneq_epi32_mask(there, exact.v, inside.v));
}
#else
inline Lanes high_swapped(Wide x) {
  return {_mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(x.even), _mm256_castsi256_ps(x.odd), 0xDD))};
}
inline Lanes odd_lanes(Lanes x) { return {_mm256_srli_epi64(x.v, 32)}; }
inline Wide products(Lanes x, Lanes even, Lanes odd) {
  return {_mm256_mul_epi32(x.v, even.v), _mm256_mul_epi32(odd_lanes(x).v, odd.v)};
}
inline int64_t store_some(Words exact, Words inside, int8_t* to, int64_t count) {
  int8_t some[kWords];
  store_bytes(some, inside);
  memcpy(to, some, size_t(count));
  const uint32_t equal = uint32_t(_mm256_movemask_epi8(_mm256_cmpeq_epi16(exact.v, inside.v)));
  return __builtin_popcount(~equal & uint32_t((uint64_t(1) << 2 * count) - 1)) / 2;
}
inline void store_two(int8_t* first, int8_t* second, Words x, Words y) {
  const __m256i both = _mm256_permute4x64_epi64(_mm256_packs_epi16(x.v, y.v), 0xD8);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(first), _mm256_castsi256_si128(both));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(second), _mm256_extracti128_si256(both, 1));
}
inline Words count_same(Words count, Words x, Words y) {
  return {_mm256_sub_epi16(count.v, _mm256_cmpeq_epi16(x.v, y.v))};
}
inline Lanes add_pairs(Lanes sum, Words x) {
  return {_mm256_add_epi32(sum.v, _mm256_madd_epi16(x.v, _mm256_set1_epi16(1)))};
}
inline int64_t sum_of(Lanes x) {
  int32_t each[kLanes];
  store_lanes(each, x);
  int64_t sum = 0;
  for (int32_t one : each) sum += one;
  return sum;
}
inline Lanes count_same(Lanes count, Lanes x, Lanes y) {
  return {_mm256_sub_epi32(count.v, _mm256_cmpeq_epi32(x.v, y.v))};
}
inline void load_residual(const int8_t* from, int64_t count, Lanes* first, Lanes* second) {
  int8_t some[kWords] = {};
  if (count < kWords) from = static_cast<int8_t*>(memcpy(some, from, size_t(count)));
  const __m128i order = _mm_setr_epi8(0, 2, 1, 3, 8, 10, 9, 11, 4, 6, 5, 7, 12, 14, 13, 15);
  const __m128i both = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)), order);
  *first = {_mm256_cvtepi8_epi32(both)};
  *second = {_mm256_cvtepi8_epi32(_mm_srli_si128(both, 8))};
}
inline Lanes load_residual(const int8_t* from, int64_t count) {
  int8_t some[kLanes] = {};
  if (count < kLanes) from = static_cast<int8_t*>(memcpy(some, from, size_t(count)));
  return {_mm256_shuffle_epi32(load_lanes(from).v, 0xD8)};
}
inline int64_t store_some(Lanes exact, Lanes inside, int8_t* to, int64_t count) {
  int8_t some[kLanes];
  store_lanes(some, inside);
  memcpy(to, some, size_t(count));
  const uint32_t equal = uint32_t(_mm256_movemask_epi8(_mm256_cmpeq_epi32(exact.v, inside.v)));
  return __builtin_popcount(~equal & uint32_t((uint64_t(1) << 4 * count) - 1)) / 4;
}
#endif

// What is known of an affine before its sums: made once where a and b are constant.
struct AffineOfSums {
  static constexpr int64_t kMostChannels = 2048;

  // What kLanes channels need.
  struct Column {
    Lanes even, odd;  // slopes
    Wide constant;
  };

  int64_t up, down, added, upper, lower;
  bool fits, plain, ties;
  Column columns[1];

  static uint64_t bytes(int64_t channels) {
    return channels > kMostChannels ? 64 : sizeof(AffineOfSums) + uint64_t(channels / kLanes) * sizeof(Column);
  }

  // For the work of `a` where every |x| <= largest. There is room for bytes().
  void prepare(const AffineArgs& a, int64_t largest, Order order) {
    constexpr int64_t limit = int64_t(1) << 61, byte = 1 << 8;
    up = max_of(32 - a.shift, 0), down = max_of(a.shift - 32, 0), ties = false;
    fits = a.channels <= kMostChannels && a.x_type == BR_INT32 && a.y_type == BR_INT8 && a.x_zero == 0 &&
           a.shift >= 20 && a.shift <= 50 && largest < int64_t(1) << 31 && a.low >= INT8_MIN && a.low <= a.high &&
           a.high <= INT8_MAX && absolute(a.y_zero) <= byte;
    if (a.residual_type >= 0)
      fits = fits && a.residual_type == BR_INT8 && up <= 4 && absolute(a.residual_zero) <= byte &&
             absolute(a.residual_factor) < int64_t(1) << 40;
    if (!fits) return;
    int64_t slope = 0, lowest = 0, highest = 0;
    for (int64_t i = 0; i < a.channels; ++i) {
      slope = max_of(slope, absolute(a.a[i]));
      lowest = min_of(lowest, a.b[i]);
      highest = max_of(highest, a.b[i]);
    }
    // At most 2^62 + 2^60 + 2^49; what is added to 2^up times that is at most 2^58 + 2^49.
    fits = lowest > -limit / 2 && highest < limit / 2 &&
           largest * slope + max_of(-lowest, highest) + (int64_t(1) << 49) <= limit >> up;
    int64_t raised = 0;  // of `up`, the slopes' share
    while (raised < up && slope << (raised + 1) < int64_t(1) << 31) ++raised;
    fits = fits && largest << (up - raised) < int64_t(1) << 31;
    if (!fits) return;
    const int64_t bits = max_of(a.shift, 32);
    added = (int64_t(1) << (bits - 1)) + a.y_zero * (int64_t(1) << bits);
    const int64_t zero = a.residual_type >= 0 ? a.residual_zero * a.residual_factor : 0;
    const int64_t scale = int64_t(1) << up, factor = a.residual_type >= 0 ? a.residual_factor * scale : 0;
    upper = factor >> 18, lower = factor & ((1 << 18) - 1);
    ties = a.residual_type >= 0;
    const auto constant_of = [&](int64_t channel) { return (a.b[channel] - zero) * scale + added; };
    // Beyond what is clipped ties do not matter, nor one unit further.
    const auto tied = [&](int64_t i) {
      const int64_t slope = a.a[i] * scale, constant = constant_of(i), unit = int64_t(1) << bits;
      int64_t least = -largest, most = largest;
      if (slope) {
        const int64_t low = ((a.low - 2) * unit - constant) / slope, high = ((a.high + 2) * unit - constant) / slope;
        least = max_of(least, min_of(low, high) - 1), most = min_of(most, max_of(low, high) + 1);
      }
      return ties_of(slope, constant, added, bits, least, most);
    };
    for (int64_t i = 0; i < a.channels && !ties; ++i) ties = tied(i) == Ties::both;
    for (int64_t vector = 0; vector * kLanes < a.channels; ++vector) {
      int32_t even[kLanes], odd[kLanes];
      int64_t constants[kLanes];
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        const int64_t channel = channel_in(order, a.channels, vector, lane);
        const bool there = channel < a.channels;
        const int64_t own = there ? constant_of(channel) : 0, raise = there ? a.a[channel] * scale : 0;
        const bool less = there && !ties && tied(channel) == Ties::below;
        constants[lane] = own - less;
        int32_t* const products = (lane % 2 ? odd : even) + lane / 2 * 2;
        products[0] = int32_t(raise >> (up - raised)), products[1] = 0;
      }
      columns[vector] = {load_lanes(even), load_lanes(odd), load_wide(constants)};
    }
    up -= raised;
    plain = up == 0 && down == 0;
  }

  // What stays in registers while sums go by, where it is made anew for some of them: bytes that are stored might be
  // part of what lives longer. kPlain and kTies as above.
  template <bool kPlain, bool kResidual, bool kTies>
  struct Finish {
    static constexpr bool plain = kPlain, residual = kResidual, ties = kTies;
    const Wide limit;
    const Words low, high;
    const Lanes lowest, highest, upper, lower;
    const int64_t up, down;

    Finish(const AffineOfSums& from, const AffineArgs& a)
        : limit(all_wide(from.added)), low(all_words(int16_t(a.low))), high(all_words(int16_t(a.high))),
          lowest(all_lanes(int32_t(a.low))), highest(all_lanes(int32_t(a.high))), upper(all_lanes(int32_t(from.upper))),
          lower(all_lanes(int32_t(from.lower))), up(from.up), down(from.down) {}
  };

  // The results of their sums; residual: those of the shortcut, less its zero or not as the constants have it.
  template <bool kSwapped = true, class With>
  static inline __attribute__((always_inline)) Lanes exact(const With& with, const Column& own, Lanes sums,
                                                           Lanes residual) {
    if (!With::plain) sums = sums << with.up;
    Wide total = products(sums, own.even, own.odd) + own.constant;
    if (With::residual)
      total = total + products(residual << 18, with.upper, with.upper) + products(residual, with.lower, with.lower);
    // Ties go away from 0: one less where the number, without what was added, is negative.
    if (With::ties) total = less_one_below(total, with.limit);
    const Lanes whole = kSwapped ? high_swapped(total) : high_lanes(total);
    return With::plain ? whole : whole >> with.down;
  }
};

}  // namespace
}  // namespace bitreplay
