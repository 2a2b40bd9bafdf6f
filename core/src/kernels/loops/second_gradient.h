// The optional second term of an input gradient: what reaches the same tensor by another way.
#pragma once
#include "arithmetic/quant.h"
#include "machine/call.h"

namespace bitreplay {

// The roles `other`, `other_e` and the attributes `other_factor`, `other_shift`, `other_bound` follow one another
// (Checker::second_gradient).

// What `quantise_sample` shall see of sample n: first(at, count, tile) makes the exact first term, of exponent e.
template <class First>
static inline void quantise_with_second(const Call& c, int64_t n, First first, int64_t e, int64_t bound, int other,
                                        int factor, int64_t bits, int gx) {
  const int64_t size = c.elements(gx), multiplier = c.has(other) ? c.attribute(factor) : 0;
  Alignment both = {e, {0, 0}, {true, false}};
  if (c.has(other))
    both = align(e, bound, c.data<int32_t>(other + 1)[n] - c.attribute(factor + 1), c.attribute(factor + 2));
  auto fill = [&](int64_t at, int64_t count, int64_t* tile) {
    first(at, count, tile);
    if (both.live[0]) round_tile(tile, count, both.shift[0]);
    else
      for (int64_t i = 0; i < count; ++i) tile[i] = 0;
    if (!both.live[1]) return;
    int64_t second[kTile];
    widen(c.type(other), c.bytes(other), n * size + at, count, second);
    for (int64_t i = 0; i < count; ++i) second[i] = mul(second[i], multiplier);
    round_tile(second, count, both.shift[1]);
    for (int64_t i = 0; i < count; ++i) tile[i] = add(tile[i], second[i]);
  };
  quantise_sample(fill, size, both.exponent, bits, c.type(gx), c.bytes(gx), n * size, c.data<int32_t>(gx + 1) + n);
}

}  // namespace bitreplay
