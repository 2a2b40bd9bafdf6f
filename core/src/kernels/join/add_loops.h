// Loops of add: engine/layers/add.py.
#pragma once
#include "arithmetic/tiles.h"
#include "machine/call.h"

namespace bitreplay {
namespace add_maps {
namespace {

enum { A, B, Y, SATURATED };
enum { A_ZERO, A_FACTOR, B_ZERO, B_FACTOR, SHIFT, Y_ZERO, LOW, HIGH };

int run(const Call& c) {
  const int64_t size = c.samples() * c.elements(A);
  const int64_t a_zero = c.attribute(A_ZERO), a_factor = c.attribute(A_FACTOR);
  const int64_t b_zero = c.attribute(B_ZERO), b_factor = c.attribute(B_FACTOR);
  const Stored stored = {c.attribute(SHIFT), c.attribute(Y_ZERO), c.attribute(LOW), c.attribute(HIGH)};
  int64_t a[kTile], b[kTile], left_range = 0;
  for (int64_t at = 0; at < size; at += kTile) {
    const int64_t count = min_of(kTile, size - at);
    widen(c.type(A), c.bytes(A), at, count, a);
    widen(c.type(B), c.bytes(B), at, count, b);
    for (int64_t i = 0; i < count; ++i) a[i] = add(mul(sub(a[i], a_zero), a_factor), mul(sub(b[i], b_zero), b_factor));
    left_range += stored(a, count);
    narrow(c.type(Y), a, count, c.bytes(Y), at);
  }
  *c.data<int64_t>(SATURATED) = add(*c.data<int64_t>(SATURATED), left_range);
  return BR_OK;
}

}  // namespace
}  // namespace add_maps

}  // namespace bitreplay
