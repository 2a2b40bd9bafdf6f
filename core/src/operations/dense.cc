// dense and dense_operand; the layer: engine/layers/dense.py.
#include "operations.h"
#include "quant.h"

namespace bitreplay {

constexpr int64_t kLowestLogit = -(int64_t(1) << 31), kHighestLogit = (int64_t(1) << 31) - 1;

namespace dense_operand {

enum { WEIGHTS, OPERAND, EXPONENT };
enum { BITS };

void check(Checker& c) {
  c.whole(WEIGHTS, type_bit(BR_INT32), 2);
  c.whole(OPERAND, kStored, 2);
  c.vector(EXPONENT, BR_INT32, 1);
  c.gradient_bits(BITS, OPERAND);
  if (c.ok())
    c.require(c.size(WEIGHTS, 0) == c.size(OPERAND, 0) && c.size(WEIGHTS, 1) == c.size(OPERAND, 1) + 1,
              "the operand does not fit the weights");
}

int run(const Call& c) {
  const int64_t features = c.size(OPERAND, 1);
  const int32_t* weights = c.data<int32_t>(WEIGHTS);
  auto fill = [&](int64_t at, int64_t count, int64_t* tile) {
    for (int64_t i = 0; i < count; ++i) tile[i] = weights[at + i + (at + i) / features];  // skips the bias of each row
  };
  int32_t* exponent = c.data<int32_t>(EXPONENT);
  quantise_sample(fill, c.elements(OPERAND), 0, c.attribute(BITS), c.type(OPERAND), c.bytes(OPERAND), 0, exponent);
  *exponent = int32_t(most(*exponent, 0));
  return BR_OK;
}

}  // namespace dense_operand

namespace dense {

enum { X, OPERAND, EXPONENT, WEIGHTS, ACTIVE, LOGITS };
enum { X_ZERO, DOWN, MANTISSA, SHIFT, BIAS_SHIFT };

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
            "the weights do not fit the features and classes");
  c.value(X_ZERO);
  c.shift(DOWN);
  c.mantissa(MANTISSA);
  c.shift(SHIFT);
  c.shift(BIAS_SHIFT);
}

int run(const Call& c) {
  const int64_t classes = c.size(LOGITS, 0), features = c.elements(X);
  const int64_t shift = c.attribute(SHIFT) - c.attribute(DOWN) - *c.data<int32_t>(EXPONENT);
  const int32_t* weights = c.data<int32_t>(WEIGHTS);
  int64_t sums[kTile];
  for (int64_t n = 0; n < c.samples(); ++n) {
    for (int64_t first = 0; first < classes; first += kTile) {
      const int64_t count = least(kTile, classes - first);
      c.kernels().dense_sums({features, count, c.attribute(X_ZERO),
                              c.bytes(X) + n * features * element_bytes(c.type(X)), c.type(X),
                              c.bytes(OPERAND) + first * features * element_bytes(c.type(OPERAND)), c.type(OPERAND),
                              sums});
      for (int64_t i = 0; i < count; ++i) {
        int64_t logit = round_shift(mul(round_shift(sums[i], c.attribute(DOWN)), c.attribute(MANTISSA)), shift);
        const int64_t bias = weights[(first + i) * (features + 1) + features];
        logit = saturate(add(logit, round_shift(bias, c.attribute(BIAS_SHIFT))), kLowestLogit + 1, kHighestLogit);
        c.data<int32_t>(LOGITS)[n * classes + first + i] =
            int32_t(c.data<uint8_t>(ACTIVE)[first + i] ? logit : kLowestLogit);
      }
    }
  }
  return BR_OK;
}

}  // namespace dense

extern const Operation kDenseOperand = {"dense_operand", 80, "weights", "operand exponent", "bits",
                                        dense_operand::check, dense_operand::run, -1, nullptr, nullptr};
extern const Operation kDense = {"dense", 81, "x operand exponent weights active", "logits",
                                 "x_zero down mantissa shift bias_shift", dense::check, dense::run, -1, nullptr,
                                 nullptr};

}  // namespace bitreplay
