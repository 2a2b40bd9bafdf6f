// The exact values of a sample are made twice: for the largest, and to be rounded (quant.h).
#include "kernels/sign/sign_input_grad.h"

#include "arithmetic/quant.h"
#include "kernels/lanes/lanes_avx512.h"

namespace bitreplay {
namespace {

template <class G, class X, class O, class T>
void run_as(const SignInputGradArgs& a, const O* other) {
  const __m512i zero = _mm512_set1_epi64(a.zero), peak = _mm512_set1_epi64(a.peak), none = _mm512_setzero_si512();
  const __m512i slope = _mm512_set1_epi64(a.slope_mantissa), factor = _mm512_set1_epi64(a.other_factor);
  const RoundShift8 slope_round(a.slope_shift);
  for (int64_t n = 0; n < a.samples; ++n) {
    const int64_t e = a.e[n] - a.peak_shift;
    Alignment both = {e, {0, 0}, {true, false}};
    if (other) both = align(e, a.bound, a.other_e[n] - a.other_shift, a.other_bound);
    const G* g = static_cast<const G*>(a.g) + n * a.size;
    const X* x = static_cast<const X*>(a.x) + n * a.size;
    const O* o = other ? other + n * a.size : nullptr;
    T* gx = static_cast<T*>(a.gx) + n * a.size;
    const RoundShift8 round0(both.shift[0]), round1(both.shift[1]);
    auto value = [&](int64_t at, __mmask8 mask) {
      __m512i sum = none;
      if (both.live[0]) {
        const __m512i distance = _mm512_abs_epi64(_mm512_sub_epi64(load8(x + at, mask), zero));
        const __m512i down = slope_round(_mm512_mullo_epi64(distance, slope));
        const __m512i derivative = _mm512_max_epi64(none, _mm512_sub_epi64(peak, down));
        sum = round0(_mm512_mullo_epi64(load8(g + at, mask), derivative));
      }
      if (both.live[1]) sum = _mm512_add_epi64(sum, round1(_mm512_mullo_epi64(load8(o + at, mask), factor)));
      return sum;
    };
    __m512i largest = none;
    for (int64_t at = 0; at < a.size; at += kLanes8) {
      const __mmask8 mask = lanes_mask(a.size - at);  // lanes outside must not count: they hold peak * 0
      largest = _mm512_mask_max_epi64(largest, mask, largest, _mm512_abs_epi64(value(at, mask)));
    }
    const int64_t max_value = _mm512_reduce_max_epi64(largest);
    const int64_t shift = quantising_shift(max_value, a.bits);
    a.ex[n] = quantised_exponent(max_value, both.exponent, shift);
    const RoundShift8 round(shift);
    for (int64_t at = 0; at < a.size; at += kLanes8) {
      const __mmask8 mask = lanes_mask(a.size - at);
      store8(gx + at, mask, round(value(at, mask)));
    }
  }
}

template <class G, class X, class T>
void with_other(const SignInputGradArgs& a) {
  if (!a.other) return run_as<G, X, int8_t, T>(a, nullptr);
  if (a.other_type != a.gx_type) return sign_input_grad_scalar(a);
  run_as<G, X, T, T>(a, static_cast<const T*>(a.other));
}

}  // namespace

void sign_input_grad_avx512(const SignInputGradArgs& a) {
  if (a.g_type != 2 && a.g_type != 3) return sign_input_grad_scalar(a);
  with_type(a.x_type, [&](auto x) {
    with_type(a.gx_type, [&](auto gx) {
      if (a.g_type == 2) return with_other<int32_t, decltype(x), decltype(gx)>(a);
      with_other<int64_t, decltype(x), decltype(gx)>(a);
    });
  });
}

}  // namespace bitreplay
