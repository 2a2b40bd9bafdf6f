// Gradients and update of the dense head; the layer: engine/layers/dense.py.
#include "arithmetic/quant.h"
#include "arithmetic/sgd.h"
#include "kernels/head/dense_grad_loops.h"
#include "machine/operation.h"

namespace bitreplay {
namespace dense_input_grad {

void check(Checker& c) {
  c.input_grad(kStored, 1);
  c.whole(OPERAND, kStored, 2);
  c.vector(EXPONENT, BR_INT32, 1);
  if (c.ok())
    c.require(c.size(OPERAND, 0) == c.size(G, 0) && c.size(OPERAND, 1) == c.elements(GX),
              "the operand does not match the gradient");
  c.shift(DOWN);
  c.multiplier();
}

}  // namespace dense_input_grad

namespace dense_param_grad {

void check(Checker& c) {
  c.per_sample(G, kStored, 1);
  c.exponents(E);
  c.per_sample(X, kStored, 3);
  c.whole(GW, type_bit(BR_INT64), 2);
  c.vector(GE, BR_INT32, 1);
  if (c.ok())
    c.require(c.size(GW, 0) == c.size(G, 0) && c.size(GW, 1) == c.elements(X) + 1,
              "the sums do not match the features and classes");
  c.value(X_ZERO);
  c.range(BOUND, 0, 4096);
}

}  // namespace dense_param_grad

namespace dense_update {

void check(Checker& c) {
  c.whole(WEIGHTS, type_bit(BR_INT32), 2);
  c.whole(GW, type_bit(BR_INT64), 2);
  c.same_shape(WEIGHTS, GW);
  c.vector(GE, BR_INT32, 1);
  c.multiplier();
  c.mantissa(BIAS_MANTISSA);
  c.shift(BIAS_SHIFT);
  c.range(NUMBER, 0, kInt32Max);
}

}  // namespace dense_update

extern const Operation kDenseInputGrad = {.name = "dense_input_grad",
                                          .code = 82,
                                          .reads = "g e operand exponent",
                                          .writes = "gx ex",
                                          .attributes = "down mantissa shift bits",
                                          .check = dense_input_grad::check,
                                          .run = dense_input_grad::run};
extern const Operation kDenseParamGrad = {.name = "dense_param_grad",
                                          .code = 83,
                                          .reads = "g e x",
                                          .writes = "gw ge",
                                          .attributes = "x_zero bound",
                                          .check = dense_param_grad::check,
                                          .run = dense_param_grad::run,
                                          .in_parts = true,
                                          .merges = true};
extern const Operation kDenseUpdate = {.name = "dense_update",
                                       .code = 84,
                                       .reads = "weights gw ge",
                                       .writes = "weights",
                                       .attributes = "mantissa shift bias_mantissa bias_shift number",
                                       .check = dense_update::check,
                                       .run = dense_update::run,
                                       .in_parts = true};

}  // namespace bitreplay
