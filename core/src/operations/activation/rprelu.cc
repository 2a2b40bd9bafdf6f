// rprelu and its gradients: engine/layers/rprelu.py.
#include "arithmetic/quant.h"
#include "kernels/activation/rprelu_loops.h"
#include "machine/operation.h"

namespace bitreplay {
namespace {

void check_numbers(Checker& c, int x, int s, int b) {
  c.per_sample(x, kStored, 3);
  if (!c.ok()) return;
  c.vector(s, BR_INT32, c.size(x, 2));
  c.vector(b, BR_INT32, c.size(x, 2));
}

}  // namespace

namespace rprelu {

void check(Checker& c) {
  check_numbers(c, X, S, B);
  if (c.ok()) c.vector(O, BR_INT64, c.size(X, 2));
  c.per_sample(Y, kStored, 3);
  c.same_shape(X, Y);
  const int values[] = {X_ZERO, ONE, Y_ZERO, LOW, HIGH};
  for (int attribute : values) c.value(attribute);
  c.range(POINT, 0, 62);
  c.shift(SHIFT);
}

}  // namespace rprelu

namespace rprelu_input_grad {

void check(Checker& c) {
  c.input_grad();
  check_numbers(c, X, S, B);
  c.same_shape(G, X);
  c.same_shape(G, GX);
  c.value(X_ZERO);
  c.range(POINT, 0, 62);
  c.value(ONE);
  c.shift(SHIFT);
}

}  // namespace rprelu_input_grad

namespace rprelu_param_grad {

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

}  // namespace rprelu_param_grad

extern const Operation kRPReLU = {.name = "rprelu",
                                  .code = 120,
                                  .reads = "x s b o",
                                  .writes = "y saturated",
                                  .attributes = "x_zero point one shift y_zero low high",
                                  .check = rprelu::check,
                                  .run = rprelu::run,
                                  .counts = rprelu::SATURATED};
extern const Operation kRPReLUInputGrad = {.name = "rprelu_input_grad",
                                           .code = 121,
                                           .reads = "g e x s b",
                                           .writes = "gx ex",
                                           .attributes = "x_zero point one shift bits",
                                           .check = rprelu_input_grad::check,
                                           .run = rprelu_input_grad::run};
extern const Operation kRPReLUParamGrad = {
    .name = "rprelu_param_grad",
    .code = 122,
    .reads = "g e x s b",
    .writes = "ps? pb po? pe",
    .attributes = "x_zero point one slope_down slope_bound z_down z_bound g_bound",
    .check = rprelu_param_grad::check,
    .run = rprelu_param_grad::run,
    .merges = true};

}  // namespace bitreplay
