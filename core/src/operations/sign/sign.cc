// pack_signs and sign_input_grad; the layer: engine/layers/sign.py.
#include "arithmetic/packing.h"
#include "machine/operation.h"

namespace bitreplay {
namespace pack_signs {

enum { X, BITS };
enum { ZERO };

void check(Checker& c) {
  c.per_sample(X, kStored, 3);
  c.packed(X, BITS);
  c.value(ZERO);
}

int run(const Call& c) {
  c.kernels().pack_signs({.rows = c.samples() * c.size(X, 0) * c.size(X, 1),
                          .channels = c.size(X, 2),
                          .x = c.bytes(X),
                          .x_type = c.type(X),
                          .zero = c.attribute(ZERO),
                          .bits = c.data<uint64_t>(BITS)});
  return BR_OK;
}

}  // namespace pack_signs

namespace sign_input_grad {

enum { G, E, X, OTHER, OTHER_E, GX, EX };
enum { ZERO, PEAK, PEAK_SHIFT, SLOPE_MANTISSA, SLOPE_SHIFT, BOUND, BITS, OTHER_FACTOR, OTHER_SHIFT, OTHER_BOUND };

void check(Checker& c) {
  c.input_grad(kWide);
  c.second_gradient();
  c.per_sample(X, kStored, 3);
  c.same_shape(G, X);
  c.same_shape(G, GX);
  c.value(ZERO);
  c.value(PEAK);
  c.shift(PEAK_SHIFT);
  c.mantissa(SLOPE_MANTISSA);
  c.shift(SLOPE_SHIFT);
  c.range(BOUND, 0, 62);
}

int run(const Call& c) {
  SignInputGradArgs a = {};
  a.samples = c.samples();
  a.size = c.elements(G);
  a.g = c.bytes(G);
  a.g_type = c.type(G);
  a.e = c.data<int32_t>(E);
  a.x = c.bytes(X);
  a.x_type = c.type(X);
  a.other = c.bytes(OTHER);
  a.other_type = c.has(OTHER) ? c.type(OTHER) : 0;
  a.other_e = c.data<int32_t>(OTHER_E);
  a.gx = c.bytes(GX);
  a.gx_type = c.type(GX);
  a.ex = c.data<int32_t>(EX);
  a.zero = c.attribute(ZERO);
  a.peak = c.attribute(PEAK);
  a.peak_shift = c.attribute(PEAK_SHIFT);
  a.slope_mantissa = c.attribute(SLOPE_MANTISSA);
  a.slope_shift = c.attribute(SLOPE_SHIFT);
  a.bound = c.attribute(BOUND);
  a.bits = c.attribute(BITS);
  a.other_factor = c.attribute(OTHER_FACTOR);
  a.other_shift = c.attribute(OTHER_SHIFT);
  a.other_bound = c.attribute(OTHER_BOUND);
  c.kernels().sign_input_grad(a);
  return BR_OK;
}

}  // namespace sign_input_grad

extern const Operation kPackSigns = {.name = "pack_signs",
                                     .code = 10,
                                     .reads = "x",
                                     .writes = "bits",
                                     .attributes = "zero",
                                     .check = pack_signs::check,
                                     .run = pack_signs::run};
extern const Operation kSignInputGrad = {
    .name = "sign_input_grad",
    .code = 11,
    .reads = "g e x other? other_e?",
    .writes = "gx ex",
    .attributes = "zero peak peak_shift slope_mantissa slope_shift bound bits other_factor other_shift other_bound",
    .check = sign_input_grad::check,
    .run = sign_input_grad::run};

}  // namespace bitreplay
