// Loops of rprelu and its gradients: engine/layers/rprelu.py.
#pragma once
#include "arithmetic/pixels.h"
#include "arithmetic/quant.h"
#include "kernels/activation/rprelu_lanes.h"
#include "machine/call.h"

namespace bitreplay {
namespace rprelu {
namespace {

enum { X, S, B, O, Y, SATURATED };
enum { X_ZERO, POINT, ONE, SHIFT, Y_ZERO, LOW, HIGH };

#if BR_LANES32
bool in_lanes(const Call& c) {
  const RPReLUArgs a = {c.samples() * c.size(X, 0) * c.size(X, 1),
                        c.size(X, 2),
                        {c.attribute(X_ZERO), c.attribute(POINT), c.data<int32_t>(S)},
                        c.attribute(ONE),
                        c.attribute(SHIFT),
                        c.attribute(Y_ZERO),
                        c.attribute(LOW),
                        c.attribute(HIGH),
                        c.data<int32_t>(B),
                        c.data<int64_t>(O),
                        c.data<int64_t>(SATURATED)};
  if (c.type(X) != c.type(Y)) return false;
  if (c.type(X) == BR_INT8) return rprelu_lanes(a, c.data<int8_t>(X), c.data<int8_t>(Y));
  if (c.type(X) == BR_INT16) return rprelu_lanes(a, c.data<int16_t>(X), c.data<int16_t>(Y));
  return false;
}
#else
bool in_lanes(const Call&) { return false; }
#endif

int run(const Call& c) {
  if (in_lanes(c)) return BR_OK;
  const int64_t channels = c.size(X, 2), rows = c.samples() * c.size(X, 0) * c.size(X, 1);
  const int64_t zero = c.attribute(X_ZERO), point = c.attribute(POINT), one = c.attribute(ONE);
  const Stored stored = {c.attribute(SHIFT), c.attribute(Y_ZERO), c.attribute(LOW), c.attribute(HIGH)};
  int64_t x[kTile], left_range = 0;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t at = 0; at < channels; at += kTile) {
      const int64_t count = min_of(kTile, channels - at);
      const int32_t *s = c.data<int32_t>(S) + at, *b = c.data<int32_t>(B) + at;
      const int64_t* o = c.data<int64_t>(O) + at;
      widen(c.type(X), c.bytes(X), row * channels + at, count, x);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t z = sub(left(sub(x[i], zero), point), s[i]), slope = b[i];
        x[i] = add(mul(z, z > 0 ? one : slope), o[i]);
      }
      left_range += stored(x, count);
      narrow(c.type(Y), x, count, c.bytes(Y), row * channels + at);
    }
  }
  *c.data<int64_t>(SATURATED) = add(*c.data<int64_t>(SATURATED), left_range);
  return BR_OK;
}

}  // namespace
}  // namespace rprelu

namespace rprelu_input_grad {
namespace {

enum { G, E, X, S, B, GX, EX };
enum { X_ZERO, POINT, ONE, SHIFT, BITS };

#if BR_LANES32
bool in_lanes(const Call& c) {
  const RPReLUGradArgs a = {c.samples(),
                            c.size(G, 0) * c.size(G, 1),
                            c.size(G, 2),
                            c.data<int32_t>(E),
                            {c.attribute(X_ZERO), c.attribute(POINT), c.data<int32_t>(S)},
                            c.attribute(ONE),
                            c.data<int32_t>(B)};
  if (c.type(X) == BR_INT32 || c.type(G) != c.type(GX)) return false;
  return with_stored(c.type(G), [&](auto stored) {
    using T = decltype(stored);
    const T* g = c.data<T>(G);
    const int64_t shift = c.attribute(SHIFT), bits = c.attribute(BITS);
    if (c.type(X) == BR_INT8)
      return rprelu_input_grad_lanes(a, g, c.data<int8_t>(X), c.data<T>(GX), c.data<int32_t>(EX), shift, bits);
    return rprelu_input_grad_lanes(a, g, c.data<int16_t>(X), c.data<T>(GX), c.data<int32_t>(EX), shift, bits);
  });
}
#else
bool in_lanes(const Call&) { return false; }
#endif

int run(const Call& c) {
  if (in_lanes(c)) return BR_OK;
  const int64_t size = c.elements(G), channels = c.size(G, 2);
  const int64_t zero = c.attribute(X_ZERO), point = c.attribute(POINT), one = c.attribute(ONE);
  for (int64_t n = 0; n < c.samples(); ++n) {
    auto fill = [&](int64_t first, int64_t count, int64_t* tile) {
      int64_t all[kTile];
      widen(c.type(G), c.bytes(G), n * size + first, count, tile);
      widen(c.type(X), c.bytes(X), n * size + first, count, all);
      over_pixels(first, count, channels, [&](int64_t, int64_t channel, int64_t lanes, int64_t offset) {
        const int32_t *s = c.data<int32_t>(S) + channel, *b = c.data<int32_t>(B) + channel;
        const int64_t from = zero, up = point, above = one;  // in registers: nothing that is written may be one of them
        int64_t *g = tile + offset, *x = all + offset;
        for (int64_t i = 0; i < lanes; ++i) {
          const int64_t z = sub(left(sub(x[i], from), up), s[i]), slope = b[i];
          g[i] = mul(g[i], z > 0 ? above : slope);
        }
      });
    };
    quantise_sample(fill, size, c.data<int32_t>(E)[n] - (c.attribute(SHIFT) - point), c.attribute(BITS), c.type(GX),
                    c.bytes(GX), n * size, c.data<int32_t>(EX) + n);
  }
  return BR_OK;
}

}  // namespace
}  // namespace rprelu_input_grad

namespace rprelu_param_grad {
namespace {

enum { G, E, X, S, B, PS, PB, PO, PE };
enum { X_ZERO, POINT, ONE, SLOPE_DOWN, SLOPE_BOUND, Z_DOWN, Z_BOUND, G_BOUND };

#if BR_LANES32
bool in_lanes(const Call& c, const int64_t* common) {
  const RPReLUGradArgs a = {c.samples(),
                            c.size(G, 0) * c.size(G, 1),
                            c.size(G, 2),
                            c.data<int32_t>(E),
                            {c.attribute(X_ZERO), c.attribute(POINT), c.data<int32_t>(S)},
                            c.attribute(ONE),
                            c.data<int32_t>(B)};
  int64_t* const p[] = {c.data<int64_t>(PS), c.data<int64_t>(PB), c.data<int64_t>(PO)};
  if (c.type(X) == BR_INT32) return false;
  return with_stored(c.type(G), [&](auto stored) {
    const auto* g = c.data<decltype(stored)>(G);
    const int64_t slope_down = c.attribute(SLOPE_DOWN), z_down = c.attribute(Z_DOWN);
    if (c.type(X) == BR_INT8) return rprelu_param_grad_lanes(a, g, c.data<int8_t>(X), slope_down, z_down, common, p);
    return rprelu_param_grad_lanes(a, g, c.data<int16_t>(X), slope_down, z_down, common, p);
  });
}
#else
bool in_lanes(const Call&, const int64_t*) { return false; }
#endif

int run(const Call& c) {
  const int64_t channels = c.size(G, 2), pixels = c.size(G, 0) * c.size(G, 1);
  const int64_t zero = c.attribute(X_ZERO), point = c.attribute(POINT), one = c.attribute(ONE);
  const int32_t* e = c.data<int32_t>(E);
  const int bounds[] = {SLOPE_BOUND, Z_BOUND, G_BOUND};
  int64_t common[3];
  for (int k = 0; k < 3; ++k) {
    common[k] = merged_exponent(e, c.samples(), c.attribute(bounds[k]));
    c.data<int32_t>(PE)[k] = int32_t(c.has(PS + k) ? common[k] : kNoGradient);
    for (int64_t i = 0; c.has(PS + k) && i < channels; ++i) c.data<int64_t>(PS + k)[i] = 0;
  }
  if (in_lanes(c, common)) return BR_OK;
  for (int64_t at = 0; at < channels; at += kTile) {
    const int64_t count = min_of(kTile, channels - at);
    const int32_t *s = c.data<int32_t>(S) + at, *b = c.data<int32_t>(B) + at;
    for (int64_t n = 0; n < c.samples(); ++n) {
      if (e[n] <= kNoGradient) continue;
      int64_t sums[3][kTile] = {}, g[kTile], x[kTile];
      for (int64_t pixel = n * pixels; pixel < (n + 1) * pixels; ++pixel) {
        widen(c.type(G), c.bytes(G), pixel * channels + at, count, g);
        widen(c.type(X), c.bytes(X), pixel * channels + at, count, x);
        int64_t by_slope[kTile];
        for (int64_t i = 0; i < count; ++i) {
          const int64_t z = sub(left(sub(x[i], zero), point), s[i]), slope = b[i];
          sums[2][i] = add(sums[2][i], g[i]);
          by_slope[i] = mul(sub(0, g[i]), z > 0 ? one : slope);
          x[i] = mul(g[i], min_of(z, 0));
        }
        round_tile(by_slope, count, c.attribute(SLOPE_DOWN));
        round_tile(x, count, c.attribute(Z_DOWN));
        for (int64_t i = 0; i < count; ++i) {
          sums[0][i] = add(sums[0][i], by_slope[i]);
          sums[1][i] = add(sums[1][i], x[i]);
        }
      }
      for (int k = 0; k < 3; ++k) {
        if (!c.has(PS + k)) continue;
        int64_t* p = c.data<int64_t>(PS + k) + at;
        round_tile(sums[k], count, common[k] - e[n]);
        for (int64_t i = 0; i < count; ++i) p[i] = add(p[i], sums[k][i]);
      }
    }
  }
  return BR_OK;
}

}  // namespace
}  // namespace rprelu_param_grad

}  // namespace bitreplay
