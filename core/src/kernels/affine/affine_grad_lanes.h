// The gradients of affine in 32-bit lanes with 64-bit products (gradient_lanes.h). Each tells whether it did the work:
// it does where every number provably fits, so that the results are those of affine_grad_tiles.h.
#pragma once
#include "bitreplay.h"
#include "kernels/affine/affine_grad.h"
#include "kernels/lanes/gradient_lanes.h"

namespace bitreplay {
namespace {

// max |g a| over a channel, from its least and its greatest g.
template <class G>
int64_t largest_product(const G* g, const int32_t* a, int64_t pixels, int64_t channels) {
  Wide largest = all_wide(0);
  over_columns(pixels, channels, [&](auto width, int64_t first, int64_t rows, int64_t channel) {
    Lanes lowest = all_lanes(0), highest = lowest;
    for (int64_t row = first; row < first + rows; ++row) {
      const Lanes gradient = width.load(g + row * channels + channel);
      lowest = smaller(lowest, gradient);
      highest = larger(highest, gradient);
    }
    const Lanes slope = width.load(a + channel);
    largest = larger(largest, larger(magnitude(lowest * slope), magnitude(highest * slope)));
  });
  return largest_of(largest);
}

// Products of two numbers of 32 bits always fit.
void affine_input_grad_lanes(const AffineInputGradArgs& a) {
  const int64_t size = a.pixels * a.channels;
  with_stored(a.g_type, [&](auto gradient) {
    return with_stored(a.gx_type, [&](auto stored) {
      using G = decltype(gradient);
      using T = decltype(stored);
      for (int64_t n = 0; n < a.samples; ++n) {
        const G* g = static_cast<const G*>(a.g) + n * size;
        auto make = [&](auto width, int64_t channel) {
          return [=, slope = width.load(a.a + channel)](int64_t at) { return width.load(g + at) * slope; };
        };
        round_columns(make, a.pixels, a.channels, largest_product(g, a.a, a.pixels, a.channels), a.e[n] - a.shift,
                      a.bits, static_cast<T*>(a.gx) + n * size, a.ex + n);
      }
      return true;
    });
  });
}

template <class G, class X>
bool affine_param_grad_stored(const AffineParamGradArgs& a) {
  const int64_t size = a.pixels * a.channels, merged = merged_exponent(a.e, a.samples, a.bound);
  const int64_t common[2] = {merged, merged};
  int64_t* const parts[2] = {a.p + a.first, a.q + a.first};
  if (a.first == 0) *a.pe = int32_t(merged);
  const Lanes x_zero = all_lanes(int32_t(a.x_zero)), one = all_lanes(1);
  const bool in_lanes = sizeof(G) <= 2 && a.pixels < 1 << 16;
  auto sums = [&](int64_t n, auto width, int64_t channel, Wide* terms) {
    const G* g = static_cast<const G*>(a.g) + n * size;
    const X* x = static_cast<const X*>(a.x) + n * size;
    Wide p = all_wide(0), q = p;
    Lanes few = all_lanes(0);  // sums of fewer than 2^16 numbers of 16 bits
    for (int64_t at = a.first + channel; at < size; at += a.channels) {
      const Lanes gradient = width.load(g + at);
      p = p + gradient * (width.load(x + at) - x_zero);
      if (in_lanes) few = few + gradient;
      else q = q + gradient * one;
    }
    terms[0] = p;
    terms[1] = in_lanes ? few * one : q;
  };
  merge_columns<2>(sums, a.samples, a.last - a.first, a.e, common, parts);
  return true;
}

bool affine_param_grad_lanes(const AffineParamGradArgs& a) {
  const int64_t limit = a.x_type == BR_INT32 ? 0 : int64_t(1) << 30;
  if (absolute(a.x_zero) > limit) return false;
  return with_stored(a.g_type, [&](auto g) {
    return with_stored(a.x_type, [&](auto x) { return affine_param_grad_stored<decltype(g), decltype(x)>(a); });
  });
}

}  // namespace
}  // namespace bitreplay
