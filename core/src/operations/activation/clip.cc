// clip and clip_input_grad: engine/layers/clip.py.
#include "arithmetic/quant.h"
#include "kernels/activation/clip_loops.h"
#include "machine/operation.h"

namespace bitreplay {
namespace clip {

void check(Checker& c) {
  c.per_sample(X, kStored, 3);
  c.per_sample(Y, kStored, 3);
  c.same_shape(X, Y);
  c.rescale();
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
                                .run = clip::run};
extern const Operation kClipInputGrad = {.name = "clip_input_grad",
                                         .code = 131,
                                         .reads = "g e x",
                                         .writes = "gx ex",
                                         .attributes = "above below mantissa shift bits",
                                         .check = clip_input_grad::check,
                                         .run = clip_input_grad::run};

}  // namespace bitreplay
