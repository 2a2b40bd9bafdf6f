// The gradients of affine in 32-bit lanes with 64-bit products (gradient_lanes.h). Each tells whether it did the work: it
// does where every number provably fits, so that the results are those of affine_grad_tiles.h.
#pragma once
#include "bitreplay.h"
#include "kernels/affine/affine_grad.h"
#include "kernels/lanes/gradient_lanes.h"

namespace bitreplay {
namespace {

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
        quantise_columns(make, a.pixels, a.channels, a.e[n] - a.shift, a.bits, static_cast<T*>(a.gx) + n * size,
                         a.ex + n);
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
  auto sums = [&](int64_t n, auto width, int64_t channel, Wide* terms) {
    const G* g = static_cast<const G*>(a.g) + n * size;
    const X* x = static_cast<const X*>(a.x) + n * size;
    Wide p = all_wide(0), q = p;
    for (int64_t at = a.first + channel; at < size; at += a.channels) {
      const Lanes gradient = width.load(g + at);
      p = p + gradient * (width.load(x + at) - x_zero);
      q = q + gradient * one;
    }
    terms[0] = p;
    terms[1] = q;
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
