// Gradients and update of the dense head; the layer: engine/layers/dense.py.
#include "operations.h"
#include "quant.h"
#include "sgd.h"
#include "operations/dense_grad_loops.h"

namespace bitreplay {
namespace dense_input_grad {

void check(Checker& c) {
  c.per_sample(G, kStored, 1);
  c.exponents(E);
  c.whole(OPERAND, kStored, 2);
  c.vector(EXPONENT, BR_INT32, 1);
  c.per_sample(GX, kStored, 3);
  c.exponents(EX);
  if (c.ok())
    c.require(c.size(OPERAND, 0) == c.size(G, 0) && c.size(OPERAND, 1) == c.elements(GX),
              "the operand does not fit the gradient");
  c.shift(DOWN);
  c.mantissa(MANTISSA);
  c.shift(SHIFT);
  c.gradient_bits(BITS, GX);
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
              "the sums do not fit the features and classes");
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
  c.mantissa(MANTISSA);
  c.shift(SHIFT);
  c.mantissa(BIAS_MANTISSA);
  c.shift(BIAS_SHIFT);
  c.range(NUMBER, 0, kInt32Max);
}

}  // namespace dense_update

extern const Operation kDenseInputGrad = {"dense_input_grad", 82, "g e operand exponent", "gx ex",
                                          "down mantissa shift bits", dense_input_grad::check, dense_input_grad::run,
                                          -1, nullptr, nullptr};
extern const Operation kDenseParamGrad = {"dense_param_grad", 83, "g e x", "gw ge", "x_zero bound",
                                          dense_param_grad::check, dense_param_grad::run, -1, nullptr, nullptr, true};
extern const Operation kDenseUpdate = {"dense_update", 84, "weights gw ge", "weights",
                                       "mantissa shift bias_mantissa bias_shift number", dense_update::check,
                                       dense_update::run, -1, nullptr, nullptr, true};

}  // namespace bitreplay
