#include "elements.h"
#include "fixedpoint.h"
#include "kernels/affine_grad.h"
#include "quant.h"

namespace bitreplay {

void affine_input_grad_scalar(const AffineInputGradArgs& a) {
  const int64_t size = a.pixels * a.channels;
  for (int64_t n = 0; n < a.samples; ++n) {
    auto fill = [&](int64_t at, int64_t count, int64_t* tile) {
      widen(a.g_type, a.g, n * size + at, count, tile);
      int64_t channel = at % a.channels;
      for (int64_t i = 0; i < count; ++i) {
        tile[i] = mul(tile[i], a.a[channel]);
        if (++channel == a.channels) channel = 0;
      }
    };
    quantise_sample(fill, size, a.e[n] - a.shift, a.bits, a.gx_type, a.gx, n * size, a.ex + n);
  }
}

void affine_param_grad_scalar(const AffineParamGradArgs& a) {
  const int64_t common = merged_exponent(a.e, a.samples, a.bound);
  *a.pe = int32_t(common);
  for (int64_t c = 0; c < a.channels; ++c) a.p[c] = a.q[c] = 0;
  for (int64_t c = 0; c < a.channels; c += kTile) {
    const int64_t count = least(kTile, a.channels - c);
    for (int64_t n = 0; n < a.samples; ++n) {
      if (a.e[n] <= kNoGradient) continue;
      int64_t p[kTile] = {}, q[kTile] = {}, g[kTile], x[kTile];
      for (int64_t pixel = n * a.pixels; pixel < (n + 1) * a.pixels; ++pixel) {
        widen(a.g_type, a.g, pixel * a.channels + c, count, g);
        widen(a.x_type, a.x, pixel * a.channels + c, count, x);
        for (int64_t i = 0; i < count; ++i) {
          p[i] = add(p[i], mul(g[i], sub(x[i], a.x_zero)));
          q[i] = add(q[i], g[i]);
        }
      }
      for (int64_t i = 0; i < count; ++i) {
        a.p[c + i] = add(a.p[c + i], round_shift(p[i], common - a.e[n]));
        a.q[c + i] = add(a.q[c + i], round_shift(q[i], common - a.e[n]));
      }
    }
  }
}

}  // namespace bitreplay
