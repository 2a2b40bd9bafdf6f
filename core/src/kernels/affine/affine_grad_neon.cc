#include "kernels/affine/affine_grad.h"

#include "arithmetic/quant.h"
#include "kernels/lanes/lanes_neon.h"

namespace bitreplay {
namespace {

template <class G, class T>
void input_grad(const AffineInputGradArgs& a) {
  const int64_t size = a.pixels * a.channels;
  for (int64_t n = 0; n < a.samples; ++n) {
    const G* g = static_cast<const G*>(a.g) + n * size;
    T* gx = static_cast<T*>(a.gx) + n * size;
    int64_t largest = INT64_MIN, c = 0;
    for (; c + 8 <= a.channels; c += 8) {
      uint32x4_t max_g[2] = {vdupq_n_u32(0), vdupq_n_u32(0)};  // max |g a| = max |g| |a|, at most 2^31 2^31
      for (int64_t at = c; at < size; at += a.channels) {
        const Narrow8 row = load8(g + at);
        for (int k = 0; k < 2; ++k) max_g[k] = vmaxq_u32(max_g[k], vreinterpretq_u32_s32(vabsq_s32(row.v[k])));
      }
      uint32_t row[8];
      for (int k = 0; k < 2; ++k) vst1q_u32(row + 4 * k, max_g[k]);
      for (int k = 0; k < 8; ++k) largest = max_of(largest, mul(row[k], absolute(a.a[c + k])));
    }
    for (; c < a.channels; ++c)
      for (int64_t at = c; at < size; at += a.channels) largest = max_of(largest, absolute(mul(g[at], a.a[c])));
    const int64_t shift = quantising_shift(largest, a.bits);
    a.ex[n] = quantised_exponent(largest, a.e[n] - a.shift, shift);
    const RoundShiftNeon round(shift);
    for (c = 0; c + 8 <= a.channels; c += 8) {
      const Narrow8 slope = load8(a.a + c);
      for (int64_t at = c; at < size; at += a.channels) store8(gx + at, low_halves(round(load8(g + at) * slope)));
    }
    for (; c < a.channels; ++c)
      for (int64_t at = c; at < size; at += a.channels) gx[at] = T(round_shift(mul(g[at], a.a[c]), shift));
  }
}

template <class G, class X>
void param_grad(const AffineParamGradArgs& a) {
  const int64_t common = merged_exponent(a.e, a.samples, a.bound), size = a.pixels * a.channels;
  const Narrow8 x_zero = all8(int32_t(a.x_zero));
  if (a.first == 0) *a.pe = int32_t(common);
  int64_t c = a.first;
  for (; c + 8 <= a.last; c += 8) {
    Wide8 all_p = all8_wide(0), all_q = all_p;
    for (int64_t n = 0; n < a.samples; ++n) {
      if (a.e[n] <= kNoGradient) continue;
      const G* g = static_cast<const G*>(a.g) + n * size;
      const X* x = static_cast<const X*>(a.x) + n * size;
      Wide8 p = all8_wide(0), q = p;
      for (int64_t at = c; at < size; at += a.channels) {
        const Narrow8 gradient = load8(g + at);
        p = multiply_add(p, gradient, load8(x + at) - x_zero);
        q = add_wide(q, gradient);
      }
      const RoundShiftNeon round(common - a.e[n]);
      all_p = all_p + round(p);
      all_q = all_q + round(q);
    }
    for (int k = 0; k < 4; ++k) {
      vst1q_s64(a.p + c + 2 * k, all_p.v[k]);
      vst1q_s64(a.q + c + 2 * k, all_q.v[k]);
    }
  }
  for (; c < a.last; ++c) {
    int64_t all_p = 0, all_q = 0;
    for (int64_t n = 0; n < a.samples; ++n) {
      if (a.e[n] <= kNoGradient) continue;
      const G* g = static_cast<const G*>(a.g) + n * size;
      const X* x = static_cast<const X*>(a.x) + n * size;
      int64_t p = 0, q = 0;
      for (int64_t at = c; at < size; at += a.channels) {
        p = add(p, mul(g[at], sub(x[at], a.x_zero)));
        q = add(q, g[at]);
      }
      all_p = add(all_p, round_shift(p, common - a.e[n]));
      all_q = add(all_q, round_shift(q, common - a.e[n]));
    }
    a.p[c] = all_p;
    a.q[c] = all_q;
  }
}

}  // namespace

void affine_input_grad_neon(const AffineInputGradArgs& a) {
  with_narrow_type(a.g_type, [&](auto g) {
    with_narrow_type(a.gx_type, [&](auto gx) { input_grad<decltype(g), decltype(gx)>(a); });
  });
}

void affine_param_grad_neon(const AffineParamGradArgs& a) {
  if (!fits32(a.x_type, a.x_zero)) return affine_param_grad_scalar(a);
  with_narrow_type(
      a.g_type, [&](auto g) { with_narrow_type(a.x_type, [&](auto x) { param_grad<decltype(g), decltype(x)>(a); }); });
}

}  // namespace bitreplay
