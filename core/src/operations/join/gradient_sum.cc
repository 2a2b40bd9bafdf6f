// gradient_sum: engine/layers/gradient_sum.py.
#include "arithmetic/quant.h"
#include "kernels/join/gradient_sum_loops.h"
#include "machine/operation.h"

namespace bitreplay {
namespace gradient_sum {

void check(Checker& c) {
  if (!c.ok()) return;
  const int dimensions = int(c.tensor(G).info.dimensions);
  c.per_sample(G, kWide, dimensions);
  c.exponents(E);
  c.second_gradient(4096);
  c.per_sample(GX, kStored, dimensions);
  c.same_shape(G, GX);
  c.exponents(EX);
  c.value(FACTOR);
  c.shift(SHIFT);
  c.range(BOUND, 0, 4096);
  c.gradient_bits(BITS, GX);
}

}  // namespace gradient_sum

extern const Operation kGradientSum = {.name = "gradient_sum",
                                       .code = 40,
                                       .reads = "g e other? other_e?",
                                       .writes = "gx ex",
                                       .attributes = "factor shift bound bits other_factor other_shift other_bound",
                                       .check = gradient_sum::check,
                                       .run = gradient_sum::run};

}  // namespace bitreplay
