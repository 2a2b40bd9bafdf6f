#include "kernels/affine/affine_grad.h"

#include "kernels/lanes/lanes_avx512.h"
#include "arithmetic/quant.h"

namespace bitreplay {
namespace {

template <class G, class T>
void input_grad(const AffineInputGradArgs& a) {
  const int64_t size = a.pixels * a.channels;
  for (int64_t n = 0; n < a.samples; ++n) {
    const G* g = static_cast<const G*>(a.g) + n * size;
    T* gx = static_cast<T*>(a.gx) + n * size;
    __m512i largest = _mm512_setzero_si512();
    for (int64_t c = 0; c < a.channels; c += kLanes8) {
      const __mmask8 mask = lanes_mask(a.channels - c);
      const __m512i slope = load8(a.a + c, mask);
      __m512i most_g = _mm512_setzero_si512();  // max |g a| = max |g| |a|
      for (int64_t at = c; at < size; at += a.channels)
        most_g = _mm512_max_epu64(most_g, _mm512_abs_epi64(load8(g + at, mask)));
      largest = _mm512_max_epu64(largest, _mm512_mullo_epi64(most_g, _mm512_abs_epi64(slope)));
    }
    const int64_t most_value = int64_t(_mm512_reduce_max_epu64(largest));
    const int64_t shift = quantising_shift(most_value, a.bits);
    a.ex[n] = quantised_exponent(most_value, a.e[n] - a.shift, shift);
    const RoundShift8 round(shift);
    for (int64_t c = 0; c < a.channels; c += kLanes8) {
      const __mmask8 mask = lanes_mask(a.channels - c);
      const __m512i slope = load8(a.a + c, mask);
      for (int64_t at = c; at < size; at += a.channels)
        store8(gx + at, mask, round(_mm512_mullo_epi64(load8(g + at, mask), slope)));
    }
  }
}

template <class G, class X>
void param_grad(const AffineParamGradArgs& a) {
  const int64_t common = merged_exponent(a.e, a.samples, a.bound);
  const __m512i x_zero = _mm512_set1_epi64(a.x_zero);
  if (a.first == 0) *a.pe = int32_t(common);
  for (int64_t c = a.first; c < a.last; c += kLanes8) {
    const __mmask8 mask = lanes_mask(a.last - c);
    __m512i all_p = _mm512_setzero_si512(), all_q = all_p;
    for (int64_t n = 0; n < a.samples; ++n) {
      if (a.e[n] <= kNoGradient) continue;
      const G* g = static_cast<const G*>(a.g) + n * a.pixels * a.channels + c;
      const X* x = static_cast<const X*>(a.x) + n * a.pixels * a.channels + c;
      __m512i p = _mm512_setzero_si512(), q = p;
      for (int64_t pixel = 0; pixel < a.pixels; ++pixel, g += a.channels, x += a.channels) {
        const __m512i gradient = load8(g, mask);
        p = _mm512_add_epi64(p, _mm512_mullo_epi64(gradient, _mm512_sub_epi64(load8(x, mask), x_zero)));
        q = _mm512_add_epi64(q, gradient);
      }
      const RoundShift8 round(common - a.e[n]);
      all_p = _mm512_add_epi64(all_p, round(p));
      all_q = _mm512_add_epi64(all_q, round(q));
    }
    store8(a.p + c, mask, all_p);
    store8(a.q + c, mask, all_q);
  }
}

}  // namespace

void affine_input_grad_avx512(const AffineInputGradArgs& a) {
  with_type(a.g_type, [&](auto g) {
    with_type(a.gx_type, [&](auto gx) { input_grad<decltype(g), decltype(gx)>(a); });
  });
}

void affine_param_grad_avx512(const AffineParamGradArgs& a) {
  with_type(a.g_type, [&](auto g) {
    with_type(a.x_type, [&](auto x) { param_grad<decltype(g), decltype(x)>(a); });
  });
}

}  // namespace bitreplay
