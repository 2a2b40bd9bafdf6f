// dense and dense_operand; the layer: engine/layers/dense.py.
#include "arithmetic/quant.h"
#include "kernels/head/dense_loops.h"
#include "machine/operation.h"

namespace bitreplay {

namespace dense_operand {

void check(Checker& c) {
  c.whole(WEIGHTS, type_bit(BR_INT32), 2);
  c.whole(OPERAND, kStored, 2);
  c.vector(EXPONENT, BR_INT32, 1);
  c.gradient_bits(BITS, OPERAND);
  if (c.ok())
    c.require(c.size(WEIGHTS, 0) == c.size(OPERAND, 0) && c.size(WEIGHTS, 1) == c.size(OPERAND, 1) + 1,
              "the operand does not match the weights");
}

}  // namespace dense_operand

namespace dense {

void check(Checker& c) {
  c.per_sample(X, kStored, 3);
  c.whole(OPERAND, kStored, 2);
  c.vector(EXPONENT, BR_INT32, 1);
  c.whole(WEIGHTS, type_bit(BR_INT32), 2);
  c.per_sample(LOGITS, type_bit(BR_INT32), 1);
  if (!c.ok()) return;
  c.vector(ACTIVE, BR_UINT8, c.size(LOGITS, 0));
  c.require(c.size(OPERAND, 0) == c.size(LOGITS, 0) && c.size(WEIGHTS, 0) == c.size(LOGITS, 0) &&
                c.size(OPERAND, 1) == c.elements(X) && c.size(WEIGHTS, 1) == c.elements(X) + 1,
            "the weights do not match the features and classes");
  c.value(X_ZERO);
  c.shift(DOWN);
  c.multiplier();
  c.shift(BIAS_SHIFT);
}

}  // namespace dense

extern const Operation kDenseOperand = {.name = "dense_operand",
                                        .code = 80,
                                        .reads = "weights",
                                        .writes = "operand exponent",
                                        .attributes = "bits",
                                        .check = dense_operand::check,
                                        .run = dense_operand::run};
extern const Operation kDense = {.name = "dense",
                                 .code = 81,
                                 .reads = "x operand exponent weights active",
                                 .writes = "logits",
                                 .attributes = "x_zero down mantissa shift bias_shift",
                                 .check = dense::check,
                                 .run = dense::run};

}  // namespace bitreplay
