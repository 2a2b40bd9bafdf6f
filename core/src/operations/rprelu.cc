// rprelu and its gradients: engine/layers/rprelu.py.
#include "operations.h"
#include "quant.h"

namespace bitreplay {
namespace {

void check_numbers(Checker& c, int x, int s, int b) {
  c.per_sample(x, kStored, 3);
  if (!c.ok()) return;
  c.vector(s, BR_INT32, c.size(x, 2));
  c.vector(b, BR_INT32, c.size(x, 2));
}

int64_t position(int64_t x, int64_t x_zero, int64_t point, int64_t s) { return sub(left(sub(x, x_zero), point), s); }

}  // namespace

namespace rprelu {

enum { X, S, B, O, Y, SATURATED };
enum { X_ZERO, POINT, ONE, SHIFT, Y_ZERO, LOW, HIGH };

void check(Checker& c) {
  check_numbers(c, X, S, B);
  if (c.ok()) c.vector(O, BR_INT64, c.size(X, 2));
  c.per_sample(Y, kStored, 3);
  c.same_shape(X, Y);
  c.vector(SATURATED, BR_INT64, 1);
  const int values[] = {X_ZERO, ONE, Y_ZERO, LOW, HIGH};
  for (int attribute : values) c.value(attribute);
  c.range(POINT, 0, 62);
  c.shift(SHIFT);
}

int run(const Call& c) {
  const int64_t channels = c.size(X, 2), rows = c.samples() * c.size(X, 0) * c.size(X, 1);
  const int32_t *s = c.data<int32_t>(S), *b = c.data<int32_t>(B);
  const int64_t* o = c.data<int64_t>(O);
  int64_t x[kTile], left_range = 0;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t at = 0; at < channels; at += kTile) {
      const int64_t count = least(kTile, channels - at);
      widen(c.type(X), c.bytes(X), row * channels + at, count, x);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t z = position(x[i], c.attribute(X_ZERO), c.attribute(POINT), s[at + i]);
        const int64_t total = add(mul(z, z > 0 ? c.attribute(ONE) : b[at + i]), o[at + i]);
        const int64_t y = add(round_shift(total, c.attribute(SHIFT)), c.attribute(Y_ZERO));
        left_range += y < c.attribute(LOW) || y > c.attribute(HIGH);
        x[i] = saturate(y, c.attribute(LOW), c.attribute(HIGH));
      }
      narrow(c.type(Y), x, count, c.bytes(Y), row * channels + at);
    }
  }
  *c.data<int64_t>(SATURATED) = add(*c.data<int64_t>(SATURATED), left_range);
  return BR_OK;
}

}  // namespace rprelu

namespace rprelu_input_grad {

enum { G, E, X, S, B, GX, EX };
enum { X_ZERO, POINT, ONE, SHIFT, BITS };

void check(Checker& c) {
  c.per_sample(G, kStored, 3);
  c.exponents(E);
  check_numbers(c, X, S, B);
  c.same_shape(G, X);
  c.per_sample(GX, kStored, 3);
  c.same_shape(G, GX);
  c.exponents(EX);
  c.value(X_ZERO);
  c.range(POINT, 0, 62);
  c.value(ONE);
  c.shift(SHIFT);
  c.gradient_bits(BITS, GX);
}

int run(const Call& c) {
  const int64_t size = c.elements(G), channels = c.size(G, 2);
  const int32_t *s = c.data<int32_t>(S), *b = c.data<int32_t>(B);
  for (int64_t n = 0; n < c.samples(); ++n) {
    auto fill = [&](int64_t at, int64_t count, int64_t* tile) {
      int64_t x[kTile];
      widen(c.type(G), c.bytes(G), n * size + at, count, tile);
      widen(c.type(X), c.bytes(X), n * size + at, count, x);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t channel = (at + i) % channels;
        const int64_t z = position(x[i], c.attribute(X_ZERO), c.attribute(POINT), s[channel]);
        tile[i] = mul(tile[i], z > 0 ? c.attribute(ONE) : b[channel]);
      }
    };
    quantise_sample(fill, size, c.data<int32_t>(E)[n] - (c.attribute(SHIFT) - c.attribute(POINT)), c.attribute(BITS),
                    c.type(GX), c.bytes(GX), n * size, c.data<int32_t>(EX) + n);
  }
  return BR_OK;
}

}  // namespace rprelu_input_grad

namespace rprelu_param_grad {

enum { G, E, X, S, B, PS, PB, PO, PE };
enum { X_ZERO, POINT, ONE, SLOPE_DOWN, SLOPE_BOUND, Z_DOWN, Z_BOUND, G_BOUND };

void check(Checker& c) {
  c.per_sample(G, kStored, 3);
  c.exponents(E);
  check_numbers(c, X, S, B);
  c.same_shape(G, X);
  if (c.ok()) {
    if (c.has(PS)) c.vector(PS, BR_INT64, c.size(G, 2));
    c.vector(PB, BR_INT64, c.size(G, 2));
    if (c.has(PO)) c.vector(PO, BR_INT64, c.size(G, 2));
  }
  c.vector(PE, BR_INT32, 3);
  c.value(X_ZERO);
  c.range(POINT, 0, 62);
  c.value(ONE);
  c.shift(SLOPE_DOWN);
  c.shift(Z_DOWN);
  const int bounds[] = {SLOPE_BOUND, Z_BOUND, G_BOUND};
  for (int attribute : bounds) c.range(attribute, 0, 4096);
}

int run(const Call& c) {
  const int64_t channels = c.size(G, 2), pixels = c.size(G, 0) * c.size(G, 1);
  const int32_t *s = c.data<int32_t>(S), *b = c.data<int32_t>(B), *e = c.data<int32_t>(E);
  const int bounds[] = {SLOPE_BOUND, Z_BOUND, G_BOUND};
  int64_t common[3];
  for (int k = 0; k < 3; ++k) {
    common[k] = merged_exponent(e, c.samples(), c.attribute(bounds[k]));
    c.data<int32_t>(PE)[k] = int32_t(c.has(PS + k) ? common[k] : kNoGradient);
    for (int64_t i = 0; c.has(PS + k) && i < channels; ++i) c.data<int64_t>(PS + k)[i] = 0;
  }
  for (int64_t at = 0; at < channels; at += kTile) {
    const int64_t count = least(kTile, channels - at);
    for (int64_t n = 0; n < c.samples(); ++n) {
      if (e[n] <= kNoGradient) continue;
      int64_t sums[3][kTile] = {}, g[kTile], x[kTile];
      for (int64_t pixel = n * pixels; pixel < (n + 1) * pixels; ++pixel) {
        widen(c.type(G), c.bytes(G), pixel * channels + at, count, g);
        widen(c.type(X), c.bytes(X), pixel * channels + at, count, x);
        for (int64_t i = 0; i < count; ++i) {
          const int64_t z = position(x[i], c.attribute(X_ZERO), c.attribute(POINT), s[at + i]);
          const int64_t slope = z > 0 ? c.attribute(ONE) : b[at + i];
          sums[0][i] = add(sums[0][i], round_shift(mul(sub(0, g[i]), slope), c.attribute(SLOPE_DOWN)));
          sums[1][i] = add(sums[1][i], round_shift(mul(g[i], least(z, 0)), c.attribute(Z_DOWN)));
          sums[2][i] = add(sums[2][i], g[i]);
        }
      }
      for (int k = 0; k < 3; ++k) {
        if (!c.has(PS + k)) continue;
        int64_t* p = c.data<int64_t>(PS + k) + at;
        for (int64_t i = 0; i < count; ++i) p[i] = add(p[i], round_shift(sums[k][i], common[k] - e[n]));
      }
    }
  }
  return BR_OK;
}

}  // namespace rprelu_param_grad

extern const Operation kRPReLU = {"rprelu", 120, "x s b o", "y saturated", "x_zero point one shift y_zero low high",
                                  rprelu::check, rprelu::run, -1, nullptr, nullptr};
extern const Operation kRPReLUInputGrad = {"rprelu_input_grad", 121, "g e x s b", "gx ex",
                                           "x_zero point one shift bits", rprelu_input_grad::check,
                                           rprelu_input_grad::run, -1, nullptr, nullptr};
extern const Operation kRPReLUParamGrad = {
    "rprelu_param_grad", 122, "g e x s b", "ps? pb po? pe",
    "x_zero point one slope_down slope_bound z_down z_bound g_bound", rprelu_param_grad::check,
    rprelu_param_grad::run, -1, nullptr, nullptr};

}  // namespace bitreplay
