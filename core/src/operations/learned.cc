// learned_operand and learned_update: engine/layers/learned.py.
#include "elements.h"
#include "operations.h"
#include "sgd.h"

namespace bitreplay {
namespace learned_operand {

enum { MASTER, OPERAND };
enum { MANTISSA, SHIFT, LIMIT };

void check(Checker& c) {
  c.whole(MASTER, type_bit(BR_INT32), 1);
  c.whole(OPERAND, type_bit(BR_INT32) | type_bit(BR_INT64), 1);
  c.same_shape(MASTER, OPERAND);
  c.mantissa(MANTISSA);
  c.shift(SHIFT);
  c.range(LIMIT, 0, INT64_MAX);
}

int run(const Call& c) {
  for (int64_t i = 0; i < c.elements(MASTER); ++i) {
    const int64_t product = mul(c.data<int32_t>(MASTER)[i], c.attribute(MANTISSA));
    const int64_t value = saturate(round_shift(product, c.attribute(SHIFT)), -c.attribute(LIMIT), c.attribute(LIMIT));
    narrow(c.type(OPERAND), &value, 1, c.bytes(OPERAND), i);
  }
  return BR_OK;
}

}  // namespace learned_operand

namespace learned_update {

enum { MASTER, P, PE };
enum { MANTISSA, SHIFT, AT, NUMBER };

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

int run(const Call& c) {
  const Step step = step_of(c.attribute(MANTISSA), c.attribute(SHIFT), c.run, c.attribute(NUMBER));
  const int64_t exponent = c.data<int32_t>(PE)[c.attribute(AT)];
  int32_t* master = c.data<int32_t>(MASTER);
  for (int64_t i = 0; i < c.elements(MASTER); ++i)
    master[i] = descend(master[i], c.data<int64_t>(P)[i], exponent, step, uint32_t(i));
  return BR_OK;
}

}  // namespace learned_update

extern const Operation kLearnedOperand = {"learned_operand", 100, "master", "operand", "mantissa shift limit",
                                          learned_operand::check, learned_operand::run, -1, nullptr, nullptr};
extern const Operation kLearnedUpdate = {"learned_update", 101, "master p pe", "master", "mantissa shift at number",
                                         learned_update::check, learned_update::run, -1, nullptr, nullptr};

}  // namespace bitreplay
