// add: engine/layers/add.py.
#include "arithmetic/elements.h"
#include "arithmetic/fixedpoint.h"
#include "kernels/join/add_loops.h"
#include "machine/operation.h"

namespace bitreplay {
namespace add_maps {

void check(Checker& c) {
  c.per_sample(A, kStored, 3);
  c.per_sample(B, kStored, 3);
  c.same_shape(A, B);
  c.per_sample(Y, kStored, 3);
  c.same_shape(A, Y);
  const int values[] = {A_ZERO, A_FACTOR, B_ZERO, B_FACTOR, Y_ZERO, LOW, HIGH};
  for (int attribute : values) c.value(attribute);
  c.shift(SHIFT);
}

}  // namespace add_maps

extern const Operation kAdd = {.name = "add",
                               .code = 140,
                               .reads = "a b",
                               .writes = "y saturated",
                               .attributes = "a_zero a_factor b_zero b_factor shift y_zero low high",
                               .check = add_maps::check,
                               .run = add_maps::run,
                               .counts = add_maps::SATURATED};

}  // namespace bitreplay
