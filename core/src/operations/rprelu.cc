// rprelu and its gradients: engine/layers/rprelu.py.
#include "operations.h"
#include "quant.h"
#include "operations/rprelu_loops.h"

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
  c.vector(SATURATED, BR_INT64, 1);
  const int values[] = {X_ZERO, ONE, Y_ZERO, LOW, HIGH};
  for (int attribute : values) c.value(attribute);
  c.range(POINT, 0, 62);
  c.shift(SHIFT);
}

}  // namespace rprelu

namespace rprelu_input_grad {

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
