// learned_operand and learned_update: engine/layers/learned.py.
#include "elements.h"
#include "operations.h"
#include "sgd.h"
#include "operations/learned_loops.h"

namespace bitreplay {
namespace learned_operand {

void check(Checker& c) {
  c.whole(MASTER, type_bit(BR_INT32), 1);
  c.whole(OPERAND, type_bit(BR_INT32) | type_bit(BR_INT64), 1);
  c.same_shape(MASTER, OPERAND);
  c.mantissa(MANTISSA);
  c.shift(SHIFT);
  c.range(LIMIT, 0, INT64_MAX);
}

}  // namespace learned_operand

namespace learned_update {

void check(Checker& c) {
  c.whole(MASTER, type_bit(BR_INT32), 1);
  c.whole(P, type_bit(BR_INT64), 1);
  c.same_shape(MASTER, P);
  c.whole(PE, type_bit(BR_INT32), 1);
  c.mantissa(MANTISSA);
  c.shift(SHIFT);
  if (c.ok()) c.range(AT, 0, c.size(PE, 0) - 1);
  c.range(NUMBER, 0, kInt32Max);
}

}  // namespace learned_update

extern const Operation kLearnedOperand = {"learned_operand", 100, "master", "operand", "mantissa shift limit",
                                          learned_operand::check, learned_operand::run, -1, nullptr, nullptr};
extern const Operation kLearnedUpdate = {"learned_update", 101, "master p pe", "master", "mantissa shift at number",
                                         learned_update::check, learned_update::run, -1, nullptr, nullptr};

}  // namespace bitreplay
