// clip and clip_input_grad: engine/layers/clip.py.
#include "operations.h"
#include "quant.h"

namespace bitreplay {
namespace clip {

enum { X, Y };
enum { X_ZERO, MANTISSA, SHIFT, Y_ZERO, LOW, HIGH };

void check(Checker& c) {
  c.per_sample(X, kStored, 3);
  c.per_sample(Y, kStored, 3);
  c.same_shape(X, Y);
  c.value(X_ZERO);
  c.mantissa(MANTISSA);
  c.shift(SHIFT);
  c.value(Y_ZERO);
  c.value(LOW);
  c.value(HIGH);
}

int run(const Call& c) {
  const int64_t size = c.samples() * c.elements(X);
  int64_t x[kTile];
  for (int64_t at = 0; at < size; at += kTile) {
    const int64_t count = least(kTile, size - at);
    widen(c.type(X), c.bytes(X), at, count, x);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t y = round_shift(mul(sub(x[i], c.attribute(X_ZERO)), c.attribute(MANTISSA)), c.attribute(SHIFT));
      x[i] = saturate(add(y, c.attribute(Y_ZERO)), c.attribute(LOW), c.attribute(HIGH));
    }
    narrow(c.type(Y), x, count, c.bytes(Y), at);
  }
  return BR_OK;
}

}  // namespace clip

namespace clip_input_grad {

enum { G, E, X, GX, EX };
enum { ABOVE, BELOW, MANTISSA, SHIFT, BITS };

void check(Checker& c) {
  c.per_sample(G, kStored, 3);
  c.exponents(E);
  c.per_sample(X, kStored, 3);
  c.same_shape(G, X);
  c.per_sample(GX, kStored, 3);
  c.same_shape(G, GX);
  c.exponents(EX);
  c.value(ABOVE);
  c.value(BELOW);
  c.mantissa(MANTISSA);
  c.shift(SHIFT);
  c.gradient_bits(BITS, GX);
}

int run(const Call& c) {
  const int64_t size = c.elements(G);
  for (int64_t n = 0; n < c.samples(); ++n) {
    auto fill = [&](int64_t at, int64_t count, int64_t* tile) {
      int64_t x[kTile];
      widen(c.type(G), c.bytes(G), n * size + at, count, tile);
      widen(c.type(X), c.bytes(X), n * size + at, count, x);
      for (int64_t i = 0; i < count; ++i) {
        const bool inside = x[i] > c.attribute(ABOVE) && x[i] < c.attribute(BELOW);
        tile[i] = inside ? mul(tile[i], c.attribute(MANTISSA)) : 0;
      }
    };
    quantise_sample(fill, size, c.data<int32_t>(E)[n] - c.attribute(SHIFT), c.attribute(BITS), c.type(GX),
                    c.bytes(GX), n * size, c.data<int32_t>(EX) + n);
  }
  return BR_OK;
}

}  // namespace clip_input_grad

extern const Operation kClip = {"clip", 130, "x", "y", "x_zero mantissa shift y_zero low high", clip::check, clip::run,
                                -1, nullptr, nullptr};
extern const Operation kClipInputGrad = {"clip_input_grad", 131, "g e x", "gx ex", "above below mantissa shift bits",
                                         clip_input_grad::check, clip_input_grad::run, -1, nullptr, nullptr};

}  // namespace bitreplay
