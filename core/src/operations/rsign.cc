// pack_signs_above, rsign_input_grad and rsign_param_grad: engine/layers/rsign.py.
#include "bits.h"
#include "second_gradient.h"
#include "operations/rsign_loops.h"

namespace bitreplay {
namespace pack_signs_above {

void check(Checker& c) {
  c.per_sample(X, kStored, 3);
  if (c.ok()) c.vector(THRESHOLD, BR_INT32, c.size(X, 2));
  c.per_sample(BITS, type_bit(BR_UINT64), 3);
  if (c.ok())
    c.require(c.size(X, 0) == c.size(BITS, 0) && c.size(X, 1) == c.size(BITS, 1) &&
                  words_for(c.size(X, 2)) == c.size(BITS, 2), "the bits do not fit the activations");
  c.value(ZERO);
  c.range(POINT, 0, 62);
}

}  // namespace pack_signs_above

namespace {

using namespace rsign;

void check_derivative(Checker& c, int slope_mantissa) {
  c.per_sample(G, kWide, 3);
  c.exponents(E);
  c.per_sample(X, kStored, 3);
  c.same_shape(G, X);
  if (c.ok()) c.vector(THRESHOLD, BR_INT32, c.size(X, 2));
  c.value(ZERO);
  c.range(POINT, 0, 62);
  c.value(PEAK);
  c.mantissa(slope_mantissa);
  c.shift(slope_mantissa + 1);
}

}  // namespace

namespace rsign_input_grad {

void check(Checker& c) {
  check_derivative(c, SLOPE_MANTISSA);
  c.per_sample(GX, kStored, 3);
  c.same_shape(G, GX);
  c.exponents(EX);
  c.shift(PEAK_SHIFT);
  c.range(BOUND, 0, 62);
  c.gradient_bits(BITS, GX);
  check_second(c, G, OTHER, OTHER_FACTOR);
}

}  // namespace rsign_input_grad

namespace rsign_param_grad {

void check(Checker& c) {
  check_derivative(c, SLOPE_MANTISSA);
  if (c.ok()) c.vector(P, BR_INT64, c.size(G, 2));
  c.vector(PE, BR_INT32, 1);
  c.shift(DOWN);
  c.range(BOUND, 0, 4096);
}

}  // namespace rsign_param_grad

extern const Operation kPackSignsAbove = {"pack_signs_above", 110, "x threshold", "bits", "zero point",
                                          pack_signs_above::check, pack_signs_above::run, -1, nullptr, nullptr};
extern const Operation kRSignInputGrad = {
    "rsign_input_grad", 111, "g e x threshold other? other_e?", "gx ex",
    "zero point peak peak_shift slope_mantissa slope_shift bound bits other_factor other_shift other_bound",
    rsign_input_grad::check, rsign_input_grad::run, -1, nullptr, nullptr};
extern const Operation kRSignParamGrad = {
    "rsign_param_grad", 112, "g e x threshold", "p pe", "zero point peak slope_mantissa slope_shift down bound",
    rsign_param_grad::check, rsign_param_grad::run, -1, nullptr, nullptr};

}  // namespace bitreplay
