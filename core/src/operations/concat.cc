// concat and concat_input_grad: engine/layers/concat.py.
#include "operations.h"
#include "pixels.h"
#include "quant.h"
#include "operations/concat_loops.h"

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
  c.value(X_ZERO);
  c.mantissa(MANTISSA);
  c.shift(SHIFT);
  c.value(Y_ZERO);
  c.value(LOW);
  c.value(HIGH);
}

}  // namespace concat

namespace concat_input_grad {

void check(Checker& c) {
  check_part(c, GX, G, FIRST);
  c.exponents(E);
  c.exponents(EX);
  c.mantissa(MANTISSA);
  c.shift(SHIFT);
  c.gradient_bits(BITS, GX);
}

}  // namespace concat_input_grad

extern const Operation kConcat = {"concat", 150, "x y", "y", "first x_zero mantissa shift y_zero low high",
                                  concat::check, concat::run, -1, nullptr, nullptr};
extern const Operation kConcatInputGrad = {"concat_input_grad", 151, "g e", "gx ex", "first mantissa shift bits",
                                           concat_input_grad::check, concat_input_grad::run, -1, nullptr, nullptr};

}  // namespace bitreplay
