// learned_operand and learned_update: engine/layers/learned.py.
#include "arithmetic/elements.h"
#include "arithmetic/sgd.h"
#include "kernels/activation/learned_loops.h"
#include "machine/operation.h"

namespace bitreplay {
namespace learned_operand {

void check(Checker& c) {
  c.whole(MASTER, type_bit(BR_INT32), 1);
  c.whole(OPERAND, type_bit(BR_INT32) | type_bit(BR_INT64), 1);
  c.same_shape(MASTER, OPERAND);
  c.multiplier();
  c.range(LIMIT, 0, INT64_MAX);
}

}  // namespace learned_operand

namespace learned_update {

void check(Checker& c) {
  c.whole(MASTER, type_bit(BR_INT32), 1);
  c.whole(P, type_bit(BR_INT64), 1);
  c.same_shape(MASTER, P);
  c.whole(PE, type_bit(BR_INT32), 1);
  c.multiplier();
  if (c.ok()) c.range(AT, 0, c.size(PE, 0) - 1);
  c.range(NUMBER, 0, kInt32Max);
}

}  // namespace learned_update

extern const Operation kLearnedOperand = {.name = "learned_operand",
                                          .code = 100,
                                          .reads = "master",
                                          .writes = "operand",
                                          .attributes = "mantissa shift limit",
                                          .check = learned_operand::check,
                                          .run = learned_operand::run};
extern const Operation kLearnedUpdate = {.name = "learned_update",
                                         .code = 101,
                                         .reads = "master p pe",
                                         .writes = "master",
                                         .attributes = "mantissa shift at number",
                                         .check = learned_update::check,
                                         .run = learned_update::run};

}  // namespace bitreplay
