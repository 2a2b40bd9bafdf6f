// clip and clip_input_grad: engine/layers/clip.py.
#include "arithmetic/quant.h"
#include "kernels/activation/clip_loops.h"
#include "machine/operation.h"
#include "operations/affine/affine_arguments.h"

namespace bitreplay {
namespace clip {

void check(Checker& c) {
  c.per_sample(X, kStored, 3);
  c.per_sample(Y, kStored, 3);
  c.same_shape(X, Y);
  c.rescale();
}

// Of 16-bit numbers whose scale and zero stay as they are.
bool run_into(const Call& c, const Call& next) {
  const int64_t shift = c.attribute(SHIFT), low = c.attribute(LOW), high = c.attribute(HIGH);
  if (!c.kernels().affine_clipped || c.type(X) != BR_INT16 || c.type(Y) != BR_INT16) return false;
  if (shift < 0 || shift > 31 || c.attribute(MANTISSA) != int64_t(1) << shift) return false;
  if (c.attribute(X_ZERO) != c.attribute(Y_ZERO) || low > high || low > INT16_MAX || high < INT16_MIN) return false;
  AffineArgs a = affine::arguments(next);
  a.x = c.bytes(X);
  return c.kernels().affine_clipped(a, {int16_t(max_of(low, INT16_MIN)), int16_t(min_of(high, INT16_MAX))});
}

}  // namespace clip

namespace clip_input_grad {

void check(Checker& c) {
  c.input_grad();
  c.per_sample(X, kStored, 3);
  c.same_shape(G, X);
  c.same_shape(G, GX);
  c.value(ABOVE);
  c.value(BELOW);
  c.multiplier();
}

}  // namespace clip_input_grad

extern const Operation kClip = {.name = "clip",
                                .code = 130,
                                .reads = "x",
                                .writes = "y",
                                .attributes = "x_zero mantissa shift y_zero low high",
                                .check = clip::check,
                                .run = clip::run,
                                .passes = clip::Y,
                                .run_into = clip::run_into};
extern const Operation kClipInputGrad = {.name = "clip_input_grad",
                                         .code = 131,
                                         .reads = "g e x",
                                         .writes = "gx ex",
                                         .attributes = "above below mantissa shift bits",
                                         .check = clip_input_grad::check,
                                         .run = clip_input_grad::run};

}  // namespace bitreplay
