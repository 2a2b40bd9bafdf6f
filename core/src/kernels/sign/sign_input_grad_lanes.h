// sign_input_grad in 32-bit lanes with 64-bit products, for stored x of 8 or 16 bits and gradients of 32. Tells whether it
// did the work: it does where every number provably fits, so that the results are those of sign_input_grad_tiles.h.
#pragma once
#include "bitreplay.h"
#include "kernels/sign/rsign_lanes.h"
#include "kernels/sign/sign_input_grad.h"

namespace bitreplay {
namespace {

constexpr int64_t kRowOfSigns = 64;  // elements of a sample have no columns here: rows of so many, or one long row

template <class X, class T>
bool sign_input_grad_stored(const SignInputGradArgs& a) {
  const Derivative derivative({a.zero, 0, nullptr}, a.peak, a.slope_mantissa, a.slope_shift);
  if (!derivative.fits<X>(0) || (a.other && a.other_factor != int32_t(a.other_factor))) return false;
  const int64_t channels = a.size % kRowOfSigns ? a.size : kRowOfSigns;
  const Lanes zero = all_lanes(int32_t(a.zero)), furthest = all_lanes(int32_t(derivative.furthest));
  const Lanes slope = all_lanes(int32_t(a.slope_mantissa)), factor = all_lanes(int32_t(a.other ? a.other_factor : 0));
  const int64_t up = 32 - a.slope_shift;
  for (int64_t n = 0; n < a.samples; ++n) {
    const int64_t e = a.e[n] - a.peak_shift;
    Alignment both = {e, {0, 0}, {true, false}};
    if (a.other) both = align(e, a.bound, a.other_e[n] - a.other_shift, a.other_bound);
    const WideRound first_round(both.shift[0]), second_round(both.shift[1]);
    const Lanes peak = all_lanes(both.live[0] ? int32_t(a.peak) : 0);
    const int32_t* g = static_cast<const int32_t*>(a.g) + n * a.size;
    const X* x = static_cast<const X*>(a.x) + n * a.size;
    const T* other = a.other ? static_cast<const T*>(a.other) + n * a.size : nullptr;
    auto make = [&](auto width, int64_t) {
      return [=](int64_t at) {
        const Lanes distance = smaller(magnitude(width.load(x + at) - zero), furthest) << up;
        const Lanes down = high_lanes(distance * slope + all_wide(int64_t(1) << 31));
        const Wide value = first_round(width.load(g + at) * larger(peak - down, all_lanes(0)));
        return both.live[1] ? value + second_round(width.load(other + at) * factor) : value;
      };
    };
    quantise_columns(make, a.size / channels, channels, both.exponent, a.bits, static_cast<T*>(a.gx) + n * a.size,
                     a.ex + n);
  }
  return true;
}

bool sign_input_grad_lanes(const SignInputGradArgs& a) {
  if (a.g_type != BR_INT32 || a.x_type == BR_INT32 || (a.other && a.other_type != a.gx_type)) return false;
  return with_stored(a.gx_type, [&](auto stored) {
    using T = decltype(stored);
    return a.x_type == BR_INT8 ? sign_input_grad_stored<int8_t, T>(a) : sign_input_grad_stored<int16_t, T>(a);
  });
}

}  // namespace
}  // namespace bitreplay
