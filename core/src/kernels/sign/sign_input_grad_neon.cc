// The exact values of a sample are made twice: for the largest, and to be rounded (quant.h).
#include "kernels/sign/sign_input_grad.h"

#include "kernels/lanes/lanes_neon.h"
#include "arithmetic/quant.h"

namespace bitreplay {
namespace {

// |x| slope; |-2^31| is 2^31 as an unsigned number.
inline Wide8 distance_times(Narrow8 x, uint32x4_t slope) {
  Wide8 product;
  for (int k = 0; k < 2; ++k) {
    const uint32x4_t distance = vreinterpretq_u32_s32(vabsq_s32(x.v[k]));
    product.v[2 * k] = vreinterpretq_s64_u64(vmull_u32(vget_low_u32(distance), vget_low_u32(slope)));
    product.v[2 * k + 1] = vreinterpretq_s64_u64(vmull_high_u32(distance, slope));
  }
  return product;
}

template <class X, class O, class T>
void run_as(const SignInputGradArgs& a, const O* other) {
  const Narrow8 zero = all8(int32_t(a.zero));
  const uint32x4_t slope = vdupq_n_u32(uint32_t(a.slope_mantissa));
  const Factor8 factor(a.other_factor);
  const RoundShiftNeon slope_round(a.slope_shift);
  const int64x2_t peak = vdupq_n_s64(a.peak), none = vdupq_n_s64(0);
  for (int64_t n = 0; n < a.samples; ++n) {
    const int64_t e = a.e[n] - a.peak_shift;
    Alignment both = {e, {0, 0}, {true, false}};
    if (other) both = align(e, a.bound, a.other_e[n] - a.other_shift, a.other_bound);
    const int32_t* g = static_cast<const int32_t*>(a.g) + n * a.size;
    const X* x = static_cast<const X*>(a.x) + n * a.size;
    const O* o = other ? other + n * a.size : nullptr;
    T* gx = static_cast<T*>(a.gx) + n * a.size;
    const RoundShiftNeon round0(both.shift[0]), round1(both.shift[1]);
    auto eight = [&](int64_t at) {
      Wide8 sum = all8_wide(0);
      if (both.live[0]) {
        Wide8 derivative = slope_round(distance_times(load8(x + at) - zero, slope));
        for (int k = 0; k < 4; ++k) derivative.v[k] = larger(none, vsubq_s64(peak, derivative.v[k]));
        sum = round0(load8(g + at) * low_halves(derivative));  // 0 <= derivative <= peak < 2^31
      }
      if (both.live[1]) sum = sum + round1(factor.add_product(all8_wide(0), load8(o + at)));
      return sum;
    };
    auto one = [&](int64_t at) {
      const int64_t down = round_shift(mul(absolute(sub(x[at], a.zero)), a.slope_mantissa), a.slope_shift);
      int64_t sum = both.live[0] ? round_shift(mul(g[at], most(0, sub(a.peak, down))), both.shift[0]) : 0;
      if (both.live[1]) sum = add(sum, round_shift(mul(o[at], a.other_factor), both.shift[1]));
      return sum;
    };
    int64x2_t largest = vdupq_n_s64(INT64_MIN);
    int64_t at = 0, most_value = INT64_MIN;
    for (; at + 8 <= a.size; at += 8) {
      const Wide8 values = eight(at);
      for (int k = 0; k < 4; ++k) largest = larger(largest, vabsq_s64(values.v[k]));
    }
    for (; at < a.size; ++at) most_value = most(most_value, absolute(one(at)));
    most_value = most(most_value, largest_of(largest));
    const int64_t shift = quantising_shift(most_value, a.bits);
    a.ex[n] = quantised_exponent(most_value, both.exponent, shift);
    const RoundShiftNeon round(shift);
    for (at = 0; at + 8 <= a.size; at += 8) store8(gx + at, low_halves(round(eight(at))));
    for (; at < a.size; ++at) gx[at] = T(round_shift(one(at), shift));
  }
}

}  // namespace

void sign_input_grad_neon(const SignInputGradArgs& a) {
  const int64_t limit = int64_t(1) << 31;
  const bool fits = a.g_type == 2 && fits32(a.x_type, a.zero) && a.peak >= 0 && a.peak < limit &&
                    a.slope_mantissa >= 0 && a.slope_mantissa < limit && a.slope_shift >= 0;
  if (!fits || (a.other && a.other_type > 2)) return sign_input_grad_scalar(a);
  with_narrow_type(a.x_type, [&](auto x) {
    with_narrow_type(a.gx_type, [&](auto gx) {
      using X = decltype(x);
      using T = decltype(gx);
      if (!a.other) return run_as<X, int8_t, T>(a, nullptr);
      with_narrow_type(a.other_type, [&](auto o) {
        run_as<X, decltype(o), T>(a, static_cast<const decltype(o)*>(a.other));
      });
    });
  });
}

}  // namespace bitreplay
