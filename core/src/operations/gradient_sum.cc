// gradient_sum: engine/layers/gradient_sum.py.
#include "operations.h"
#include "quant.h"
#include "operations/gradient_sum_loops.h"

namespace bitreplay {
namespace gradient_sum {

void check(Checker& c) {
  if (!c.ok()) return;
  const int dimensions = int(c.tensor(G).info.dimensions);
  c.per_sample(G, kWide, dimensions);
  c.exponents(E);
  c.require(c.has(OTHER) == c.has(OTHER_E), "a second gradient lacks its exponents");
  if (c.has(OTHER) && c.ok()) {
    c.per_sample(OTHER, kWide, dimensions);
    c.same_shape(G, OTHER);
    c.exponents(OTHER_E);
  }
  c.per_sample(GX, kStored, dimensions);
  c.same_shape(G, GX);
  c.exponents(EX);
  c.value(FACTOR);
  c.shift(SHIFT);
  c.range(BOUND, 0, 4096);
  c.gradient_bits(BITS, GX);
  c.value(OTHER_FACTOR);
  c.shift(OTHER_SHIFT);
  c.range(OTHER_BOUND, 0, 4096);
}

}  // namespace gradient_sum

extern const Operation kGradientSum = {"gradient_sum", 40, "g e other? other_e?", "gx ex",
                                       "factor shift bound bits other_factor other_shift other_bound",
                                       gradient_sum::check, gradient_sum::run, -1, nullptr, nullptr};

}  // namespace bitreplay
