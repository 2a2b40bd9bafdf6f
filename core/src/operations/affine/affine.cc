// affine and its gradients; the layer: engine/layers/batchnorm.py.
#include "arithmetic/elements.h"
#include "arithmetic/fixedpoint.h"
#include "machine/operation.h"
#include "operations/affine/affine_arguments.h"

namespace bitreplay {
namespace affine {

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
  const int values[] = {X_ZERO, Y_ZERO, LOW, HIGH, RESIDUAL_ZERO, RESIDUAL_FACTOR};
  for (int attribute : values) c.value(attribute);
  c.shift(SHIFT);
}

int run(const Call& c) {
  c.kernels().affine(arguments(c));
  return BR_OK;
}

uint64_t prepared_bytes(const Call& c) {
  const auto bytes = c.kernels().affine_prepare.bytes;
  return bytes && is_constant(c) ? bytes(arguments(c)) : 0;
}

void prepare(const Call& c, uint8_t* prepared) { c.kernels().affine_prepare.make(arguments(c), prepared); }

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
    const int64_t count = min_of(kTile, size - at);
    widen(c.type(X), c.bytes(X), at, count, x);
    widen(c.type(RESIDUAL), c.bytes(RESIDUAL), at, count, residual);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t channel = (at + i) % channels;
      const int64_t scaled =
          saturate(add(mul(sub(x[i], c.attribute(X_ZERO)), c.data<int32_t>(A)[channel]), c.data<int64_t>(B)[channel]),
                   -limit, limit);
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
  c.input_grad();
  c.same_shape(G, GX);
  if (c.ok()) c.vector(A, BR_INT32, c.size(G, 2));
  c.shift(SHIFT);
}

int run(const Call& c) {
  c.kernels().affine_input_grad({.samples = c.samples(),
                                 .pixels = c.size(G, 0) * c.size(G, 1),
                                 .channels = c.size(G, 2),
                                 .g = c.bytes(G),
                                 .g_type = c.type(G),
                                 .e = c.data<int32_t>(E),
                                 .a = c.data<int32_t>(A),
                                 .gx = c.bytes(GX),
                                 .gx_type = c.type(GX),
                                 .ex = c.data<int32_t>(EX),
                                 .shift = c.attribute(SHIFT),
                                 .bits = c.attribute(BITS)});
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
  c.kernels().affine_param_grad({.samples = c.samples(),
                                 .pixels = c.size(G, 0) * c.size(G, 1),
                                 .channels = c.size(G, 2),
                                 .g = c.bytes(G),
                                 .g_type = c.type(G),
                                 .e = c.data<int32_t>(E),
                                 .x = c.bytes(X),
                                 .x_type = c.type(X),
                                 .p = c.data<int64_t>(P),
                                 .q = c.data<int64_t>(Q),
                                 .pe = c.data<int32_t>(PE),
                                 .x_zero = c.attribute(X_ZERO),
                                 .bound = c.attribute(BOUND),
                                 .first = own.first,
                                 .last = own.last});
  return BR_OK;
}

}  // namespace affine_param_grad

extern const Operation kAffine = {.name = "affine",
                                  .code = 21,
                                  .reads = "x a b residual?",
                                  .writes = "y saturated",
                                  .attributes = "x_zero shift y_zero low high residual_zero residual_factor",
                                  .check = affine::check,
                                  .run = affine::run,
                                  .weights = affine::A,
                                  .packed_weights_bytes = affine::prepared_bytes,
                                  .pack_weights = affine::prepare,
                                  .counts = affine::SATURATED,
                                  .takes = affine::X};
extern const Operation kAffineFine = {
    .name = "affine_fine",
    .code = 25,
    .reads = "x a b residual",
    .writes = "y saturated",
    .attributes = "x_zero shift y_zero low high residual_zero residual_factor up limit",
    .check = affine_fine::check,
    .run = affine_fine::run,
    .counts = affine_fine::SATURATED};
extern const Operation kAffineInputGrad = {.name = "affine_input_grad",
                                           .code = 22,
                                           .reads = "g e a",
                                           .writes = "gx ex",
                                           .attributes = "shift bits",
                                           .check = affine_input_grad::check,
                                           .run = affine_input_grad::run};
extern const Operation kAffineParamGrad = {.name = "affine_param_grad",
                                           .code = 23,
                                           .reads = "g e x",
                                           .writes = "p q pe",
                                           .attributes = "x_zero bound",
                                           .check = affine_param_grad::check,
                                           .run = affine_param_grad::run,
                                           .in_parts = true,
                                           .merges = true};

}  // namespace bitreplay
