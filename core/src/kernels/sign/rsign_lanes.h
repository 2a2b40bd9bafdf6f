// rsign_input_grad and rsign_param_grad in 32-bit lanes with 64-bit products, for stored x of 8 or 16 bits and
// gradients of 32.
//
// Each function tells whether it did the work: it does where every number provably fits, so that the results are those
// of kernels/sign/rsign_loops.h.
#pragma once
#include "kernels/lanes/gradient_lanes.h"
#include "machine/call.h"

namespace bitreplay {
namespace {

#if BR_LANES32

// d = max(0, peak - round(|z| mantissa / 2^shift)).
struct Derivative {
  Position position;
  int64_t peak, mantissa, shift;
  int64_t furthest;  // the least |z| whose derivative is 0

  Derivative(Position position, int64_t peak, int64_t mantissa, int64_t shift)
      : position(position), peak(peak), mantissa(mantissa), shift(shift), furthest(0) {
    if (peak <= 0 || peak >= int64_t(1) << 30 || shift < 1 || shift > 32 || mantissa < 1) return;
    // round(|z| mantissa / 2^shift) >= peak  <=>  |z| mantissa >= peak 2^shift - 2^(shift - 1)
    furthest = ((peak << shift) - (int64_t(1) << (shift - 1)) + mantissa - 1) / mantissa;
  }
  // |z| up to `furthest` times 2^(32 - shift) is a number of 31 bits: the high half of the product is the result.
  template <class X>
  bool fits(int64_t channels) const {
    return furthest > 0 && furthest >> (shift - 1) == 0 && mantissa == int32_t(mantissa) &&
           position.below<X>(int64_t(1) << 31, channels);
  }
};

struct DerivativeColumn {
  const Lanes offset, furthest, slope, peak;
  const int64_t point, up;

  template <class Width>
  DerivativeColumn(const Derivative& d, bool live, Width width, int64_t channel)
      : offset(d.position.offset(width, channel)), furthest(all_lanes(int32_t(d.furthest))),
        slope(all_lanes(int32_t(d.mantissa))), peak(all_lanes(live ? int32_t(d.peak) : 0)), point(d.position.point),
        up(32 - d.shift) {}
  Lanes at(Lanes x) const {
    const Lanes distance = smaller(magnitude((x << point) - offset), furthest) << up;
    const Wide down = distance * slope + all_wide(int64_t(1) << 31);
    return larger(peak - high_lanes(down), all_lanes(0));
  }
};

struct RSignGradArgs {
  int64_t samples, pixels, channels;
  const int32_t *g, *e;
  Derivative derivative;
};

// The other gradient of the same tensor (second_gradient.h); e is null where there is none.
template <class T>
struct Second {
  const T* g;
  const int32_t* e;
  int64_t factor, shift, bound;
};

template <class X, class T>
bool rsign_input_grad_lanes(const RSignGradArgs& a, const X* x, Second<T> other, int64_t peak_shift, int64_t bound,
                            int64_t bits, T* gx, int32_t* ex) {
  if (!a.derivative.fits<X>(a.channels) || other.factor != int32_t(other.factor)) return false;
  const int64_t size = a.pixels * a.channels;
  const Lanes factor = all_lanes(int32_t(other.factor));
  for (int64_t n = 0; n < a.samples; ++n) {
    Alignment both = {a.e[n] - peak_shift, {0, 0}, {true, false}};
    if (other.e) both = align(a.e[n] - peak_shift, bound, other.e[n] - other.shift, other.bound);
    const int32_t* g = a.g + n * size;
    const X* from = x + n * size;
    const T* second = other.g + n * size;
    const auto quantise = [&](auto make) {
      quantise_columns(make, a.pixels, a.channels, both.exponent, bits, gx + n * size, ex + n);
    };
    with_round(both.shift[0], [&](auto first_round) {
      const auto first = [&](auto width, int64_t channel) {
        return [=, column = DerivativeColumn(a.derivative, both.live[0], width, channel)](int64_t at) {
          return first_round(width.load(g + at) * column.at(width.load(from + at)));
        };
      };
      if (!both.live[1]) return quantise(first);
      with_round(both.shift[1], [&](auto second_round) {
        quantise([&](auto width, int64_t channel) {
          return [=, value = first(width, channel)](int64_t at) {
            return value(at) + second_round(width.load(second + at) * factor);
          };
        });
      });
    });
  }
  return true;
}

template <class X>
bool rsign_param_grad_lanes(const RSignGradArgs& a, const X* x, int64_t down, int64_t common, int64_t* p) {
  if (!a.derivative.fits<X>(a.channels)) return false;
  const int64_t size = a.pixels * a.channels;
  const WideRound round(down);
  auto sums = [&](int64_t n, auto width, int64_t channel, Wide* terms) {
    const DerivativeColumn column(a.derivative, true, width, channel);
    Wide sum = all_wide(0);
    for (int64_t at = n * size + channel; at < (n + 1) * size; at += a.channels) {
      const Wide product = width.load(a.g + at) * column.at(width.load(x + at));
      sum = sum - (down == 0 ? product : round(product));  // round(-v) = -round(v)
    }
    terms[0] = sum;
  };
  merge_columns<1>(sums, a.samples, a.channels, a.e, &common, &p);
  return true;
}

#endif

}  // namespace
}  // namespace bitreplay
