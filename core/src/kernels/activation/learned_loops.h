// Loops of learned_operand and learned_update: engine/layers/learned.py.
#pragma once
#include "arithmetic/elements.h"
#include "arithmetic/sgd.h"
#include "machine/call.h"

namespace bitreplay {
namespace learned_operand {
namespace {

enum { MASTER, OPERAND };
enum { MANTISSA, SHIFT, LIMIT };

int run(const Call& c) {
  for (int64_t i = 0; i < c.elements(MASTER); ++i) {
    const int64_t product = mul(c.data<int32_t>(MASTER)[i], c.attribute(MANTISSA));
    const int64_t value = saturate(round_shift(product, c.attribute(SHIFT)), -c.attribute(LIMIT), c.attribute(LIMIT));
    narrow(c.type(OPERAND), &value, 1, c.bytes(OPERAND), i);
  }
  return BR_OK;
}

}  // namespace
}  // namespace learned_operand

namespace learned_update {
namespace {

enum { MASTER, P, PE };
enum { MANTISSA, SHIFT, AT, NUMBER };

int run(const Call& c) {
  const Step step = step_of(c.attribute(MANTISSA), c.attribute(SHIFT), c.run, c.attribute(NUMBER));
  const int64_t exponent = c.data<int32_t>(PE)[c.attribute(AT)];
  int32_t* master = c.data<int32_t>(MASTER);
  for (int64_t i = 0; i < c.elements(MASTER); ++i)
    master[i] = descend(master[i], c.data<int64_t>(P)[i], exponent, step, uint32_t(i));
  return BR_OK;
}

}  // namespace
}  // namespace learned_update

}  // namespace bitreplay
