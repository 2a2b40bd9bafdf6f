// concat and concat_input_grad: engine/layers/concat.py.
#include "arithmetic/pixels.h"
#include "arithmetic/quant.h"
#include "kernels/join/concat_loops.h"
#include "machine/operation.h"

namespace bitreplay {
namespace {

// `part` is channels first .. first + its own of `whole`.
void check_part(Checker& c, int part, int whole, int first) {
  c.per_sample(part, kStored, 3);
  c.per_sample(whole, kStored, 3);
  if (!c.ok()) return;
  c.require(c.size(part, 0) == c.size(whole, 0) && c.size(part, 1) == c.size(whole, 1), "the maps differ in size");
  c.require(c.attribute(first) >= 0 && c.attribute(first) <= c.size(whole, 2) - c.size(part, 2),
            "the part lies outside the channels");
}

}  // namespace

namespace concat {

void check(Checker& c) {
  check_part(c, X, Y, FIRST);
  c.rescale();
}

}  // namespace concat

namespace concat_input_grad {

void check(Checker& c) {
  check_part(c, GX, G, FIRST);
  c.input_grad();
  c.multiplier();
}

}  // namespace concat_input_grad

extern const Operation kConcat = {.name = "concat",
                                  .code = 150,
                                  .reads = "x y",
                                  .writes = "y",
                                  .attributes = "first x_zero mantissa shift y_zero low high",
                                  .check = concat::check,
                                  .run = concat::run};
extern const Operation kConcatInputGrad = {.name = "concat_input_grad",
                                           .code = 151,
                                           .reads = "g e",
                                           .writes = "gx ex",
                                           .attributes = "first mantissa shift bits",
                                           .check = concat_input_grad::check,
                                           .run = concat_input_grad::run};

}  // namespace bitreplay
