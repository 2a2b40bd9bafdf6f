// The gradients of affine, tile by tile: loops that the compiler turns into vectors of the instruction set that
// includes them.
#pragma once
#include "arithmetic/elements.h"
#include "arithmetic/fixedpoint.h"
#include "arithmetic/pixels.h"
#include "arithmetic/quant.h"
#include "arithmetic/tiles.h"
#include "kernels/affine/affine_grad.h"

namespace bitreplay {

static void affine_input_grad_tiles(const AffineInputGradArgs& a) {
  const int64_t size = a.pixels * a.channels;
  for (int64_t n = 0; n < a.samples; ++n) {
    auto fill = [&](int64_t at, int64_t count, int64_t* tile) {
      widen(a.g_type, a.g, n * size + at, count, tile);
      over_pixels(at, count, a.channels, [&](int64_t, int64_t channel, int64_t lanes, int64_t offset) {
        const int32_t* slope = a.a + channel;
        for (int64_t i = 0; i < lanes; ++i) tile[offset + i] = mul(tile[offset + i], slope[i]);
      });
    };
    quantise_sample(fill, size, a.e[n] - a.shift, a.bits, a.gx_type, a.gx, n * size, a.ex + n);
  }
}

static void affine_param_grad_tiles(const AffineParamGradArgs& a) {
  const int64_t common = merged_exponent(a.e, a.samples, a.bound);
  if (a.first == 0) *a.pe = int32_t(common);
  for (int64_t c = a.first; c < a.last; ++c) a.p[c] = a.q[c] = 0;
  for (int64_t c = a.first; c < a.last; c += kTile) {
    const int64_t count = min_of(kTile, a.last - c);
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
      round_tile(p, count, common - a.e[n]);
      round_tile(q, count, common - a.e[n]);
      for (int64_t i = 0; i < count; ++i) {
        a.p[c + i] = add(a.p[c + i], p[i]);
        a.q[c + i] = add(a.q[c + i], q[i]);
      }
    }
  }
}

}  // namespace bitreplay
