// Loops of clip and clip_input_grad: engine/layers/clip.py.
#pragma once
#include "machine/call.h"
#include "arithmetic/quant.h"
#include "arithmetic/rescale.h"

namespace bitreplay {
namespace clip {
namespace {

enum { X, Y };
enum { X_ZERO, MANTISSA, SHIFT, Y_ZERO, LOW, HIGH };

int run(const Call& c) {
  const int64_t size = c.samples() * c.elements(X);
  const Rescaled rescaled = {c.attribute(X_ZERO), c.attribute(MANTISSA),
                             {c.attribute(SHIFT), c.attribute(Y_ZERO), c.attribute(LOW), c.attribute(HIGH)}};
  if (rescale_bytes(rescaled, c.type(X), c.bytes(X), size, c.type(Y), c.bytes(Y))) return BR_OK;
  if (shift_words(rescaled, c.type(X), c.bytes(X), size, c.type(Y), c.bytes(Y))) return BR_OK;
  int64_t x[kTile];
  for (int64_t at = 0; at < size; at += kTile) {
    const int64_t count = least(kTile, size - at);
    widen(c.type(X), c.bytes(X), at, count, x);
    rescaled(x, count);
    narrow(c.type(Y), x, count, c.bytes(Y), at);
  }
  return BR_OK;
}

}  // namespace
}  // namespace clip

namespace clip_input_grad {
namespace {

enum { G, E, X, GX, EX };
enum { ABOVE, BELOW, MANTISSA, SHIFT, BITS };

int run(const Call& c) {
  const int64_t size = c.elements(G), above = c.attribute(ABOVE), below = c.attribute(BELOW);
  const int64_t mantissa = c.attribute(MANTISSA);
  for (int64_t n = 0; n < c.samples(); ++n) {
    auto fill = [&](int64_t at, int64_t count, int64_t* tile) {
      int64_t x[kTile];
      widen(c.type(G), c.bytes(G), n * size + at, count, tile);
      widen(c.type(X), c.bytes(X), n * size + at, count, x);
      for (int64_t i = 0; i < count; ++i) tile[i] = mul(tile[i], (x[i] > above) & (x[i] < below) ? mantissa : 0);
    };
    quantise_sample(fill, size, c.data<int32_t>(E)[n] - c.attribute(SHIFT), c.attribute(BITS), c.type(GX),
                    c.bytes(GX), n * size, c.data<int32_t>(EX) + n);
  }
  return BR_OK;
}

}  // namespace
}  // namespace clip_input_grad

}  // namespace bitreplay
