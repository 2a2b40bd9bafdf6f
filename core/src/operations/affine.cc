// affine and its gradients; the layer: engine/layers/batchnorm.py.
#include "elements.h"
#include "fixedpoint.h"
#include "operations.h"

namespace bitreplay {
namespace affine {

enum { X, A, B, RESIDUAL, Y, SATURATED };
enum { X_ZERO, SHIFT, Y_ZERO, LOW, HIGH, RESIDUAL_ZERO, RESIDUAL_FACTOR };

void check(Checker& c) {
  c.per_sample(X, kStored, 3);
  c.per_sample(Y, kStored, 3);
  c.same_shape(X, Y);
  if (c.ok()) {
    c.vector(A, BR_INT32, c.size(X, 2));
    c.vector(B, BR_INT64, c.size(X, 2));
  }
  if (c.has(RESIDUAL)) {
    c.per_sample(RESIDUAL, kStored, 3);
    c.same_shape(X, RESIDUAL);
  }
  c.vector(SATURATED, BR_INT64, 1);
  const int values[] = {X_ZERO, Y_ZERO, LOW, HIGH, RESIDUAL_ZERO, RESIDUAL_FACTOR};
  for (int attribute : values) c.value(attribute);
  c.shift(SHIFT);
}

int run(const Call& c) {
  AffineArgs a = {};
  a.rows = c.samples() * c.size(X, 0) * c.size(X, 1);
  a.channels = c.size(X, 2);
  a.x = c.bytes(X);
  a.x_type = c.type(X);
  a.a = c.data<int32_t>(A);
  a.b = c.data<int64_t>(B);
  a.residual = c.bytes(RESIDUAL);
  a.residual_type = c.has(RESIDUAL) ? c.type(RESIDUAL) : 0;
  a.y = c.bytes(Y);
  a.y_type = c.type(Y);
  a.saturated = c.data<int64_t>(SATURATED);
  a.x_zero = c.attribute(X_ZERO);
  a.shift = c.attribute(SHIFT);
  a.y_zero = c.attribute(Y_ZERO);
  a.low = c.attribute(LOW);
  a.high = c.attribute(HIGH);
  a.residual_zero = c.attribute(RESIDUAL_ZERO);
  a.residual_factor = c.attribute(RESIDUAL_FACTOR);
  c.kernels().affine(a);
  return BR_OK;
}

}  // namespace affine

namespace affine_fine {

enum { X, A, B, RESIDUAL, Y, SATURATED };
enum { X_ZERO, SHIFT, Y_ZERO, LOW, HIGH, RESIDUAL_ZERO, RESIDUAL_FACTOR, UP, LIMIT };

void check(Checker& c) {
  c.per_sample(X, kStored, 3);
  c.per_sample(Y, kStored, 3);
  c.same_shape(X, Y);
  c.per_sample(RESIDUAL, kStored, 3);
  c.same_shape(X, RESIDUAL);
  if (c.ok()) {
    c.vector(A, BR_INT32, c.size(X, 2));
    c.vector(B, BR_INT64, c.size(X, 2));
  }
  c.vector(SATURATED, BR_INT64, 1);
  const int values[] = {X_ZERO, Y_ZERO, LOW, HIGH, RESIDUAL_ZERO, RESIDUAL_FACTOR};
  for (int attribute : values) c.value(attribute);
  c.shift(SHIFT);
  c.range(UP, 0, 62);
  c.range(LIMIT, 0, INT64_MAX);
}

int run(const Call& c) {
  const int64_t channels = c.size(X, 2), size = c.samples() * c.elements(X), limit = c.attribute(LIMIT);
  int64_t x[kTile], residual[kTile], left_range = 0;
  for (int64_t at = 0; at < size; at += kTile) {
    const int64_t count = least(kTile, size - at);
    widen(c.type(X), c.bytes(X), at, count, x);
    widen(c.type(RESIDUAL), c.bytes(RESIDUAL), at, count, residual);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t channel = (at + i) % channels;
      const int64_t scaled = saturate(add(mul(sub(x[i], c.attribute(X_ZERO)), c.data<int32_t>(A)[channel]),
                                          c.data<int64_t>(B)[channel]), -limit, limit);
      const int64_t shortcut = mul(sub(residual[i], c.attribute(RESIDUAL_ZERO)), c.attribute(RESIDUAL_FACTOR));
      const int64_t total = add(left(scaled, c.attribute(UP)), shortcut);
      const int64_t y = add(round_shift(total, c.attribute(SHIFT)), c.attribute(Y_ZERO));
      left_range += y < c.attribute(LOW) || y > c.attribute(HIGH);
      x[i] = saturate(y, c.attribute(LOW), c.attribute(HIGH));
    }
    narrow(c.type(Y), x, count, c.bytes(Y), at);
  }
  *c.data<int64_t>(SATURATED) = add(*c.data<int64_t>(SATURATED), left_range);
  return BR_OK;
}

}  // namespace affine_fine

namespace affine_input_grad {

enum { G, E, A, GX, EX };
enum { SHIFT, BITS };

void check(Checker& c) {
  c.per_sample(G, kStored, 3);
  c.exponents(E);
  if (c.ok()) c.vector(A, BR_INT32, c.size(G, 2));
  c.per_sample(GX, kStored, 3);
  c.same_shape(G, GX);
  c.exponents(EX);
  c.shift(SHIFT);
  c.gradient_bits(BITS, GX);
}

int run(const Call& c) {
  c.kernels().affine_input_grad({c.samples(), c.size(G, 0) * c.size(G, 1), c.size(G, 2), c.bytes(G), c.type(G),
                                 c.data<int32_t>(E), c.data<int32_t>(A), c.bytes(GX), c.type(GX), c.data<int32_t>(EX),
                                 c.attribute(SHIFT), c.attribute(BITS)});
  return BR_OK;
}

}  // namespace affine_input_grad

namespace affine_param_grad {

enum { G, E, X, P, Q, PE };
enum { X_ZERO, BOUND };

void check(Checker& c) {
  c.per_sample(G, kStored, 3);
  c.exponents(E);
  c.per_sample(X, kStored, 3);
  c.same_shape(G, X);
  if (c.ok()) {
    c.vector(P, BR_INT64, c.size(G, 2));
    c.vector(Q, BR_INT64, c.size(G, 2));
  }
  c.vector(PE, BR_INT32, 1);
  c.value(X_ZERO);
  c.range(BOUND, 0, 4096);
}

int run(const Call& c) {
  const Range own = c.share(c.size(G, 2), kLanesShared);
  c.kernels().affine_param_grad({c.samples(), c.size(G, 0) * c.size(G, 1), c.size(G, 2), c.bytes(G), c.type(G),
                                 c.data<int32_t>(E), c.bytes(X), c.type(X), c.data<int64_t>(P), c.data<int64_t>(Q),
                                 c.data<int32_t>(PE), c.attribute(X_ZERO), c.attribute(BOUND), own.first, own.last});
  return BR_OK;
}

}  // namespace affine_param_grad

extern const Operation kAffine = {"affine", 21, "x a b residual?", "y saturated",
                                  "x_zero shift y_zero low high residual_zero residual_factor", affine::check,
                                  affine::run, -1, nullptr, nullptr};
extern const Operation kAffineFine = {"affine_fine", 25, "x a b residual", "y saturated",
                                      "x_zero shift y_zero low high residual_zero residual_factor up limit",
                                      affine_fine::check, affine_fine::run, -1, nullptr, nullptr};
extern const Operation kAffineInputGrad = {"affine_input_grad", 22, "g e a", "gx ex", "shift bits",
                                           affine_input_grad::check, affine_input_grad::run, -1, nullptr, nullptr};
extern const Operation kAffineParamGrad = {"affine_param_grad", 23, "g e x", "p q pe", "x_zero bound",
                                           affine_param_grad::check, affine_param_grad::run, -1, nullptr, nullptr, true};

}  // namespace bitreplay
