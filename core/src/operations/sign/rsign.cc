// pack_signs_above, rsign_input_grad and rsign_param_grad: engine/layers/rsign.py.
#include "arithmetic/packing.h"
#include "kernels/loops/second_gradient.h"
#include "kernels/sign/rsign_loops.h"
#include "machine/operation.h"

namespace bitreplay {
namespace pack_signs_above {

void check(Checker& c) {
  c.per_sample(X, kStored, 3);
  if (c.ok()) c.vector(THRESHOLD, BR_INT32, c.size(X, 2));
  c.packed(X, BITS);
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
  c.input_grad(kWide);
  c.second_gradient();
  c.same_shape(G, GX);
  c.shift(PEAK_SHIFT);
  c.range(BOUND, 0, 62);
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

extern const Operation kPackSignsAbove = {.name = "pack_signs_above",
                                          .code = 110,
                                          .reads = "x threshold",
                                          .writes = "bits",
                                          .attributes = "zero point",
                                          .check = pack_signs_above::check,
                                          .run = pack_signs_above::run};
extern const Operation kRSignInputGrad = {
    .name = "rsign_input_grad",
    .code = 111,
    .reads = "g e x threshold other? other_e?",
    .writes = "gx ex",
    .attributes =
        "zero point peak peak_shift slope_mantissa slope_shift bound bits other_factor other_shift other_bound",
    .check = rsign_input_grad::check,
    .run = rsign_input_grad::run};
extern const Operation kRSignParamGrad = {.name = "rsign_param_grad",
                                          .code = 112,
                                          .reads = "g e x threshold",
                                          .writes = "p pe",
                                          .attributes = "zero point peak slope_mantissa slope_shift down bound",
                                          .check = rsign_param_grad::check,
                                          .run = rsign_param_grad::run,
                                          .merges = true};

}  // namespace bitreplay
