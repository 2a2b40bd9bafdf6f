// affine on eight lanes at a time: differences in 32 bits, products and sums in 64, channel by channel down the rows. NEON
// multiplies no 64-bit lanes: where a zero or a bound does not fit 32 bits the scalar kernel does the work.
// The nest of loops is that of affine_avx512.cc; what stands inside is other instructions and other widths in each line.
#include "kernels/affine/affine.h"

#include "arithmetic/fixedpoint.h"
#include "kernels/lanes/lanes_neon.h"

namespace bitreplay {
namespace {

template <class X, class R, class Y>
void run_as(const AffineArgs& a, const R* residual) {
  const X* x = static_cast<const X*>(a.x);
  Y* y = static_cast<Y*>(a.y);
  const int64_t size = a.rows * a.channels;
  const Narrow8 x_zero = all8(int32_t(a.x_zero)), residual_zero = all8(int32_t(a.residual_zero));
  const Factor8 factor(a.residual_factor);
  const Wide8 y_zero = all8_wide(a.y_zero);
  const int32x4_t low = vdupq_n_s32(int32_t(a.low)), high = vdupq_n_s32(int32_t(a.high));
  const RoundShiftNeon round(a.shift);
  int64_t outside = 0, c = 0;
  for (; c + 8 <= a.channels; c += 8) {
    const Narrow8 slope = load8(a.a + c);
    const Wide8 offset = load8(a.b + c);
    for (int64_t at = c; at < size; at += a.channels) {
      Wide8 sum = multiply_add(offset, load8(x + at) - x_zero, slope);
      if (residual) sum = factor.add_product(sum, load8(residual + at) - residual_zero);
      // Saturating to 32 bits keeps a value outside [low, high] outside: both lie within.
      const Narrow8 found = saturated_halves(round(sum) + y_zero);
      Narrow8 inside;
      int32x4_t same = vdupq_n_s32(0);
      for (int k = 0; k < 2; ++k) {
        inside.v[k] = vminq_s32(vmaxq_s32(found.v[k], low), high);
        same = vaddq_s32(same, vreinterpretq_s32_u32(vceqq_s32(inside.v[k], found.v[k])));  // -1 where equal
      }
      outside += 8 + vaddvq_s32(same);
      store8(y + at, inside);
    }
  }
  for (; c < a.channels; ++c) {
    for (int64_t at = c; at < size; at += a.channels) {
      int64_t sum = add(mul(sub(x[at], a.x_zero), a.a[c]), a.b[c]);
      if (residual) sum = add(sum, mul(sub(residual[at], a.residual_zero), a.residual_factor));
      const int64_t value = add(round_shift(sum, a.shift), a.y_zero);
      outside += value < a.low || value > a.high;
      y[at] = Y(saturate(value, a.low, a.high));
    }
  }
  *a.saturated = add(*a.saturated, outside);
}

}  // namespace

void affine_neon(const AffineArgs& a) {
  const bool fits = fits32(a.x_type, a.x_zero) && (!a.residual || fits32(a.residual_type, a.residual_zero)) &&
                    a.low <= a.high && a.low > INT32_MIN && a.high < INT32_MAX;
  if (!fits) return affine_scalar(a);
  with_narrow_type(a.x_type, [&](auto x) {
    with_narrow_type(a.y_type, [&](auto y) {
      using X = decltype(x);
      using Y = decltype(y);
      if (!a.residual) return run_as<X, int8_t, Y>(a, nullptr);
      with_narrow_type(a.residual_type, [&](auto r) {
        run_as<X, decltype(r), Y>(a, static_cast<const decltype(r)*>(a.residual));
      });
    });
  });
}

}  // namespace bitreplay
