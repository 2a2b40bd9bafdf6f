// clip and clip_input_grad: engine/layers/clip.py.
#include "operations.h"
#include "quant.h"
#include "operations/clip_loops.h"

namespace bitreplay {
namespace clip {

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

}  // namespace clip

namespace clip_input_grad {

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

}  // namespace clip_input_grad

extern const Operation kClip = {"clip", 130, "x", "y", "x_zero mantissa shift y_zero low high", clip::check, clip::run,
                                -1, nullptr, nullptr};
extern const Operation kClipInputGrad = {"clip_input_grad", 131, "g e x", "gx ex", "above below mantissa shift bits",
                                         clip_input_grad::check, clip_input_grad::run, -1, nullptr, nullptr};

}  // namespace bitreplay
