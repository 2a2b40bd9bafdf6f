// Loops of Gradients and update of the dense head; the layer: engine/layers/dense.py.
#pragma once
#include "arithmetic/quant.h"
#include "arithmetic/sgd.h"
#include "machine/call.h"

namespace bitreplay {
namespace dense_input_grad {
namespace {

enum { G, E, OPERAND, EXPONENT, GX, EX };
enum { DOWN, MANTISSA, SHIFT, BITS };

// Whether sums over classes fit 32 bits, and the mantissa.
bool small(const Call& c) {
  const int64_t bits = 8 * (element_bytes(c.type(G)) + element_bytes(c.type(OPERAND))) - 2 + bit_length(c.size(G, 0));
  return c.type(G) != BR_INT32 && c.type(OPERAND) != BR_INT32 && bits < 32 &&
         c.attribute(MANTISSA) == int32_t(c.attribute(MANTISSA));
}

// tile[i] = mantissa times the sum over classes of g[n, k] w[k, at + i], in 32 bits before the last product.
template <class W>
void fill_small(const Call& c, int64_t n, int64_t at, int64_t count, int64_t* tile) {
  const int64_t classes = c.size(G, 0), features = c.elements(GX);
  const int32_t mantissa = int32_t(c.attribute(MANTISSA));
  int32_t sums[kTile] = {};
  for (int64_t k = 0; k < classes; ++k) {
    int64_t g;
    widen(c.type(G), c.bytes(G), n * classes + k, 1, &g);
    const int16_t factor = int16_t(g);
    const W* w = c.data<W>(OPERAND) + k * features + at;
    if (factor == 0) continue;
    for (int64_t i = 0; i < count; ++i) sums[i] += int32_t(factor) * int32_t(int16_t(w[i]));
  }
  for (int64_t i = 0; i < count; ++i) tile[i] = int64_t(sums[i]) * int64_t(mantissa);
}

void fill_wide(const Call& c, int64_t n, int64_t at, int64_t count, int64_t* tile) {
  const int64_t classes = c.size(G, 0), features = c.elements(GX), mantissa = c.attribute(MANTISSA);
  int64_t w[kTile];
  for (int64_t i = 0; i < count; ++i) tile[i] = 0;
  for (int64_t k = 0; k < classes; ++k) {
    int64_t g;
    widen(c.type(G), c.bytes(G), n * classes + k, 1, &g);
    if (g == 0) continue;
    widen(c.type(OPERAND), c.bytes(OPERAND), k * features + at, count, w);
    for (int64_t i = 0; i < count; ++i) tile[i] = add(tile[i], mul(g, w[i]));
  }
  round_tile(tile, count, c.attribute(DOWN));
  for (int64_t i = 0; i < count; ++i) tile[i] = mul(tile[i], mantissa);
}

int run(const Call& c) {
  const int64_t features = c.elements(GX);
  const int64_t exponent = *c.data<int32_t>(EXPONENT) + c.attribute(DOWN) - c.attribute(SHIFT);
  const auto fill = c.attribute(DOWN) || !small(c) ? fill_wide
                    : c.type(OPERAND) == BR_INT8   ? fill_small<int8_t>
                                                   : fill_small<int16_t>;
  for (int64_t n = 0; n < c.samples(); ++n)
    quantise_sample([&](int64_t at, int64_t count, int64_t* tile) { fill(c, n, at, count, tile); }, features,
                    c.data<int32_t>(E)[n] + exponent, c.attribute(BITS), c.type(GX), c.bytes(GX), n * features,
                    c.data<int32_t>(EX) + n);
  return BR_OK;
}

}  // namespace
}  // namespace dense_input_grad

namespace dense_param_grad {
namespace {

enum { G, E, X, GW, GE };
enum { X_ZERO, BOUND };

int64_t product(int32_t a, int32_t b) { return int64_t(a) * int64_t(b); }
int64_t product(int64_t a, int64_t b) { return mul(a, b); }

// Element is wide enough for x - zero and for a gradient.
template <class Element>
int run_as(const Call& c) {
  const int64_t classes = c.size(G, 0), features = c.elements(X);
  const int32_t* e = c.data<int32_t>(E);
  const int64_t common = merged_exponent(e, c.samples(), c.attribute(BOUND));
  const Range own = c.share(classes);
  if (c.part == 0) *c.data<int32_t>(GE) = int32_t(common);
  int64_t* gw = c.data<int64_t>(GW);
  for (int64_t i = own.first * (features + 1); i < own.last * (features + 1); ++i) gw[i] = 0;
  for (int64_t n = 0; n < c.samples(); ++n) {
    if (e[n] <= kNoGradient) continue;
    const int64_t shift = common - e[n];
    for (int64_t at = 0; at <= features; at += kTile) {
      const int64_t count = min_of(kTile, features - at);
      int64_t products[kTile + 1];
      Element x[kTile + 1];
      widen(c.type(X), c.bytes(X), n * features + at, count, products);
      for (int64_t i = 0; i < count; ++i) x[i] = Element(sub(products[i], c.attribute(X_ZERO)));
      const bool last = at + kTile > features;  // the bias reads a 1 behind the features
      if (last) x[count] = 1;
      for (int64_t k = own.first; k < own.last; ++k) {
        int64_t g;
        widen(c.type(G), c.bytes(G), n * classes + k, 1, &g);
        if (g == 0) continue;
        const Element factor = Element(g);
        int64_t* row = gw + k * (features + 1) + at;
        for (int64_t i = 0; i < count + last; ++i) products[i] = product(factor, x[i]);
        round_tile(products, count + last, shift);
        for (int64_t i = 0; i < count + last; ++i) row[i] = add(row[i], products[i]);
      }
    }
  }
  return BR_OK;
}

int run(const Call& c) {
  const bool small = c.type(X) != BR_INT32 && absolute(c.attribute(X_ZERO)) < 1 << 30;
  return small ? run_as<int32_t>(c) : run_as<int64_t>(c);
}

}  // namespace
}  // namespace dense_param_grad

namespace dense_update {
namespace {

enum { WEIGHTS, GW, GE };
enum { MANTISSA, SHIFT, BIAS_MANTISSA, BIAS_SHIFT, NUMBER };

int run(const Call& c) {
  const int64_t columns = c.size(WEIGHTS, 1), exponent = *c.data<int32_t>(GE);
  int32_t* weights = c.data<int32_t>(WEIGHTS);
  const int64_t* gw = c.data<int64_t>(GW);
  const Step step = step_of(c.attribute(MANTISSA), c.attribute(SHIFT), c.run, c.attribute(NUMBER));
  const Step bias_step = step_of(c.attribute(BIAS_MANTISSA), c.attribute(BIAS_SHIFT), c.run, c.attribute(NUMBER));
  const Range own = c.share(c.size(WEIGHTS, 0));
  int64_t element = own.first * columns;
  for (int64_t row = own.first; row < own.last; ++row) {
    for (int64_t column = 0; column < columns; ++column, ++element)
      weights[element] =
          descend(weights[element], gw[element], exponent, column + 1 < columns ? step : bias_step, uint32_t(element));
  }
  return BR_OK;
}

}  // namespace
}  // namespace dense_update

}  // namespace bitreplay
