// rprelu and its gradients in 32-bit lanes with 64-bit products, for stored x of 8 or 16 bits.
//
// Each function tells whether it did the work: it does where every number provably fits, so that the results are those
// of kernels/activation/rprelu_loops.h.
#pragma once
#include "kernels/lanes/gradient_lanes.h"
#include "machine/call.h"

namespace bitreplay {
namespace {

#if BR_LANES32

struct RPReLUArgs {
  int64_t rows, channels;
  Position position;
  int64_t one, shift, y_zero, low, high;
  const int32_t* b;
  const int64_t* o;
  int64_t* saturated;
};

template <class X>
bool rprelu_lanes(const RPReLUArgs& a, const X* x, X* y) {
  constexpr int64_t limit = int64_t(1) << 30;
  // |z A| < 2^61 and |o| <= 2^61: with half of 2^shift added, sums stay inside 64 bits. After a shift of 32 or more
  // what is left is at most 2^30, and y_zero at most 2^29.
  if (!a.position.below<X>(limit, a.channels) || a.one != int32_t(a.one) || a.shift < 32 || a.shift > 62) return false;
  if (absolute(a.y_zero) > limit / 2 || a.low > a.high) return false;
  if (a.low != int32_t(a.low) || a.high != int32_t(a.high)) return false;
  for (int64_t i = 0; i < a.channels; ++i)
    if (a.o[i] < -2 * limit * limit || a.o[i] > 2 * limit * limit) return false;
  const Lanes one = all_lanes(int32_t(a.one)), y_zero = all_lanes(int32_t(a.y_zero)), none = all_lanes(0);
  const Lanes low = all_lanes(int32_t(a.low)), high = all_lanes(int32_t(a.high));
  const Wide half = all_wide(int64_t(1) << (a.shift - 1));
  int64_t left_range = 0;
  over_columns(a.rows, a.channels, [&](auto width, int64_t first, int64_t rows, int64_t channel) {
    const Lanes offset = a.position.offset(width, channel), slope = width.load(a.b + channel);
    const Wide constant = width.load_wide(a.o + channel) + half;
    Lanes outside = none;
    for (int64_t row = first; row < first + rows; ++row) {
      const int64_t at = row * a.channels + channel;
      const Lanes z = (width.load(x + at) << a.position.point) - offset;
      const Wide sum = z * choose(z > none, one, slope) + constant;
      // Ties go away from 0: one less where the number, without the half, is negative.
      const Lanes exact = (high_lanes(less_one_below(sum, half)) >> (a.shift - 32)) + y_zero;
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

struct RPReLUGradArgs {
  int64_t samples, pixels, channels;
  const int32_t* e;
  Position position;
  int64_t one;
  const int32_t* b;
};

template <class X, class G>
struct SlopeColumn {
  const Lanes offset, slope, one;
  const int64_t point;

  template <class Width>
  SlopeColumn(const RPReLUGradArgs& a, Width width, int64_t channel)
      : offset(a.position.offset(width, channel)), slope(width.load(a.b + channel)), one(all_lanes(int32_t(a.one))),
        point(a.position.point) {}
  Lanes z(Lanes x) const { return (x << point) - offset; }
  Lanes at(Lanes z) const { return choose(z > all_lanes(0), one, slope); }
};

template <class X, class G>
bool rprelu_input_grad_lanes(const RPReLUGradArgs& a, const G* g, const X* x, G* gx, int32_t* ex, int64_t shift,
                             int64_t bits) {
  if (!a.position.below<X>(int64_t(1) << 31, a.channels) || a.one != int32_t(a.one)) return false;
  const int64_t size = a.pixels * a.channels;
  for (int64_t n = 0; n < a.samples; ++n) {
    auto make = [&](auto width, int64_t channel) {
      return [=, column = SlopeColumn<X, G>(a, width, channel)](int64_t at) {
        return width.load(g + n * size + at) * column.at(column.z(width.load(x + n * size + at)));
      };
    };
    quantise_columns(make, a.pixels, a.channels, a.e[n] - (shift - a.position.point), bits, gx + n * size, ex + n);
  }
  return true;
}

// p: the sums for s, b and o, null where one is not wanted.
template <class X, class G>
bool rprelu_param_grad_lanes(const RPReLUGradArgs& a, const G* g, const X* x, int64_t slope_down, int64_t z_down,
                             const int64_t* common, int64_t* const* p) {
  if (!a.position.below<X>(int64_t(1) << 31, a.channels) || a.one != int32_t(a.one)) return false;
  const int64_t size = a.pixels * a.channels;
  const WideRound slope_round(slope_down), z_round(z_down);
  const bool exact = slope_down == 0 && z_down == 0;
  auto sums = [&](int64_t n, auto width, int64_t channel, Wide* terms) {
    const SlopeColumn<X, G> column(a, width, channel);
    const Lanes none = all_lanes(0), one = all_lanes(1);
    Wide by_slope = all_wide(0), by_z = all_wide(0), plain = all_wide(0);
    for (int64_t at = n * size + channel; at < (n + 1) * size; at += a.channels) {
      const Lanes gradient = width.load(g + at), z = column.z(width.load(x + at));
      const Wide sloped = gradient * column.at(z), bent = gradient * smaller(z, none);
      plain = plain + gradient * one;
      by_slope = by_slope - (exact ? sloped : slope_round(sloped));  // round(-v) = -round(v)
      by_z = by_z + (exact ? bent : z_round(bent));
    }
    terms[0] = by_slope;
    terms[1] = by_z;
    terms[2] = plain;
  };
  merge_columns<3>(sums, a.samples, a.channels, a.e, common, p);
  return true;
}

#endif

}  // namespace
}  // namespace bitreplay
