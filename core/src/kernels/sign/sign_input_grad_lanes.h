// sign_input_grad as RSign's gradient in lanes with thresholds of 0. Tells whether it did the work: it does where every
// number provably fits, so that the results are those of sign_input_grad_tiles.h.
#pragma once
#include "kernels/sign/rsign_lanes.h"
#include "kernels/sign/sign_input_grad.h"

namespace bitreplay {
namespace {

constexpr int64_t kColumns = 64;  // the map as rows of so many, whatever its channels: every element is alike
const int32_t kThresholds[kColumns] = {};

template <class X, class T>
bool sign_grad_in_lanes(const SignInputGradArgs& a) {
  const Position position = {a.zero, 0, kThresholds};
  const RSignGradArgs args = {a.samples, a.size / kColumns,
                              kColumns,  static_cast<const int32_t*>(a.g),
                              a.e,       Derivative(position, a.peak, a.slope_mantissa, a.slope_shift)};
  const Second<T> other = {static_cast<const T*>(a.other), a.other ? a.other_e : nullptr, a.other ? a.other_factor : 0,
                           a.other_shift, a.other_bound};
  return rsign_input_grad_lanes(args, static_cast<const X*>(a.x), other, a.peak_shift, a.bound, a.bits,
                                static_cast<T*>(a.gx), a.ex);
}

bool sign_grad_in_lanes(const SignInputGradArgs& a) {
  if (a.g_type != BR_INT32 || a.x_type == BR_INT32 || a.size % kColumns) return false;
  if (a.other && a.other_type != a.gx_type) return false;
  return with_stored(a.gx_type, [&](auto stored) {
    return a.x_type == BR_INT8 ? sign_grad_in_lanes<int8_t, decltype(stored)>(a)
                               : sign_grad_in_lanes<int16_t, decltype(stored)>(a);
  });
}

}  // namespace

}  // namespace bitreplay
