// Loops of concat and concat_input_grad: engine/layers/concat.py.
#pragma once
#include "arithmetic/pixels.h"
#include "arithmetic/quant.h"
#include "machine/call.h"

namespace bitreplay {
namespace concat {
namespace {

enum { X, Y };
enum { FIRST, X_ZERO, MANTISSA, SHIFT, Y_ZERO, LOW, HIGH };

int run(const Call& c) {
  const int64_t channels = c.size(X, 2), pixels = c.samples() * c.size(X, 0) * c.size(X, 1);
  int64_t x[kTile];
  for (int64_t pixel = 0; pixel < pixels; ++pixel) {
    for (int64_t at = 0; at < channels; at += kTile) {
      const int64_t count = min_of(kTile, channels - at);
      widen(c.type(X), c.bytes(X), pixel * channels + at, count, x);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t y = round_shift(mul(sub(x[i], c.attribute(X_ZERO)), c.attribute(MANTISSA)), c.attribute(SHIFT));
        x[i] = saturate(add(y, c.attribute(Y_ZERO)), c.attribute(LOW), c.attribute(HIGH));
      }
      narrow(c.type(Y), x, count, c.bytes(Y), pixel * c.size(Y, 2) + c.attribute(FIRST) + at);
    }
  }
  return BR_OK;
}

}  // namespace
}  // namespace concat

namespace concat_input_grad {
namespace {

enum { G, E, GX, EX };
enum { FIRST, MANTISSA, SHIFT, BITS };

int run(const Call& c) {
  const int64_t size = c.elements(GX), channels = c.size(GX, 2), all = c.size(G, 2);
  for (int64_t n = 0; n < c.samples(); ++n) {
    auto fill = [&](int64_t at, int64_t count, int64_t* tile) {
      over_pixels(at, count, channels, [&](int64_t pixel, int64_t channel, int64_t lanes, int64_t offset) {
        const int64_t from = n * c.elements(G) + pixel * all + c.attribute(FIRST) + channel;
        widen(c.type(G), c.bytes(G), from, lanes, tile + offset);
      });
      for (int64_t i = 0; i < count; ++i) tile[i] = mul(tile[i], c.attribute(MANTISSA));
    };
    quantise_sample(fill, size, c.data<int32_t>(E)[n] - c.attribute(SHIFT), c.attribute(BITS), c.type(GX), c.bytes(GX),
                    n * size, c.data<int32_t>(EX) + n);
  }
  return BR_OK;
}

}  // namespace
}  // namespace concat_input_grad

}  // namespace bitreplay
