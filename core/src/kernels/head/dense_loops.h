// Loops of dense and dense_operand; the layer: engine/layers/dense.py.
#pragma once
#include "arithmetic/pixels.h"
#include "arithmetic/quant.h"
#include "machine/call.h"

namespace bitreplay {

constexpr int64_t kLowestLogit = -(int64_t(1) << 31), kHighestLogit = (int64_t(1) << 31) - 1;

namespace dense_operand {
namespace {

enum { WEIGHTS, OPERAND, EXPONENT };
enum { BITS };

int run(const Call& c) {
  const int64_t features = c.size(OPERAND, 1);
  const int32_t* weights = c.data<int32_t>(WEIGHTS);
  auto fill = [&](int64_t at, int64_t count, int64_t* tile) {
    over_pixels(at, count, features, [&](int64_t row, int64_t column, int64_t lanes, int64_t offset) {
      widen(BR_INT32, weights, row * (features + 1) + column, lanes, tile + offset);  // without the bias of each row
    });
  };
  int32_t* exponent = c.data<int32_t>(EXPONENT);
  quantise_sample(fill, c.elements(OPERAND), 0, c.attribute(BITS), c.type(OPERAND), c.bytes(OPERAND), 0, exponent);
  *exponent = int32_t(max_of(*exponent, 0));
  return BR_OK;
}

}  // namespace
}  // namespace dense_operand

namespace dense {
namespace {

enum { X, OPERAND, EXPONENT, WEIGHTS, ACTIVE, LOGITS };
enum { X_ZERO, DOWN, MANTISSA, SHIFT, BIAS_SHIFT };

// sums[k] = sum over features of (x - zero) operand[first + k], for sample n. Bytes: 256 products fit 32 bits.
template <class W>
void sums_as(const Call& c, int64_t n, int64_t first, int64_t count, int64_t* sums) {
  const int64_t features = c.elements(X), zero = c.attribute(X_ZERO);
  const W* operand = c.data<W>(OPERAND) + first * features;
  const bool bytes = sizeof(W) == 1 && c.type(X) == BR_INT8 && absolute(zero) <= 1 << 14;
  for (int64_t k = 0; k < count; ++k) sums[k] = 0;
  for (int64_t at = 0; at < features; at += kTile) {
    const int64_t width = min_of(kTile, features - at);
    int64_t x[kTile];
    int16_t narrow_x[kTile], narrow_w[kTile];
    widen(c.type(X), c.bytes(X), n * features + at, width, x);
    for (int64_t i = 0; i < width; ++i) x[i] = sub(x[i], zero);
    if (bytes) narrow_to<int16_t>(x, width, narrow_x, 0);
    for (int64_t k = 0; k < count; ++k) {
      const W* w = operand + k * features + at;
      int64_t total = 0;
      if (bytes) {
        int32_t small = 0;
        for (int64_t i = 0; i < width; ++i) narrow_w[i] = int16_t(w[i]);
        for (int64_t i = 0; i < width; ++i) small += int32_t(narrow_x[i]) * int32_t(narrow_w[i]);
        total = small;
      } else {
        for (int64_t i = 0; i < width; ++i) total = add(total, mul(x[i], w[i]));
      }
      sums[k] = add(sums[k], total);
    }
  }
}

void sums_of(const Call& c, int64_t n, int64_t first, int64_t count, int64_t* sums) {
  if (c.type(OPERAND) == BR_INT8) return sums_as<int8_t>(c, n, first, count, sums);
  if (c.type(OPERAND) == BR_INT16) return sums_as<int16_t>(c, n, first, count, sums);
  sums_as<int32_t>(c, n, first, count, sums);
}

int run(const Call& c) {
  const int64_t classes = c.size(LOGITS, 0), features = c.elements(X);
  const int64_t shift = c.attribute(SHIFT) - c.attribute(DOWN) - *c.data<int32_t>(EXPONENT);
  const int32_t* weights = c.data<int32_t>(WEIGHTS);
  int64_t sums[kTile];
  for (int64_t n = 0; n < c.samples(); ++n) {
    for (int64_t first = 0; first < classes; first += kTile) {
      const int64_t count = min_of(kTile, classes - first);
      sums_of(c, n, first, count, sums);
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

}  // namespace
}  // namespace dense

}  // namespace bitreplay
