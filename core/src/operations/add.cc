// add: engine/layers/add.py.
#include "elements.h"
#include "fixedpoint.h"
#include "operations.h"

namespace bitreplay {
namespace add_maps {

enum { A, B, Y, SATURATED };
enum { A_ZERO, A_FACTOR, B_ZERO, B_FACTOR, SHIFT, Y_ZERO, LOW, HIGH };

void check(Checker& c) {
  c.per_sample(A, kStored, 3);
  c.per_sample(B, kStored, 3);
  c.same_shape(A, B);
  c.per_sample(Y, kStored, 3);
  c.same_shape(A, Y);
  c.vector(SATURATED, BR_INT64, 1);
  const int values[] = {A_ZERO, A_FACTOR, B_ZERO, B_FACTOR, Y_ZERO, LOW, HIGH};
  for (int attribute : values) c.value(attribute);
  c.shift(SHIFT);
}

int run(const Call& c) {
  const int64_t size = c.samples() * c.elements(A);
  int64_t a[kTile], b[kTile], left_range = 0;
  for (int64_t at = 0; at < size; at += kTile) {
    const int64_t count = least(kTile, size - at);
    widen(c.type(A), c.bytes(A), at, count, a);
    widen(c.type(B), c.bytes(B), at, count, b);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t total = add(mul(sub(a[i], c.attribute(A_ZERO)), c.attribute(A_FACTOR)),
                                mul(sub(b[i], c.attribute(B_ZERO)), c.attribute(B_FACTOR)));
      const int64_t y = add(round_shift(total, c.attribute(SHIFT)), c.attribute(Y_ZERO));
      left_range += y < c.attribute(LOW) || y > c.attribute(HIGH);
      a[i] = saturate(y, c.attribute(LOW), c.attribute(HIGH));
    }
    narrow(c.type(Y), a, count, c.bytes(Y), at);
  }
  *c.data<int64_t>(SATURATED) = add(*c.data<int64_t>(SATURATED), left_range);
  return BR_OK;
}

}  // namespace add_maps

extern const Operation kAdd = {"add", 140, "a b", "y saturated", "a_zero a_factor b_zero b_factor shift y_zero low high",
                               add_maps::check, add_maps::run, -1, nullptr, nullptr};

}  // namespace bitreplay
