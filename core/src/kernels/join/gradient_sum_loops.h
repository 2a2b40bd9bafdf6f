// Loops of gradient_sum: engine/layers/gradient_sum.py.
#pragma once
#include "arithmetic/quant.h"
#include "machine/call.h"

namespace bitreplay {
namespace gradient_sum {
namespace {

enum { G, E, OTHER, OTHER_E, GX, EX };
enum { FACTOR, SHIFT, BOUND, BITS, OTHER_FACTOR, OTHER_SHIFT, OTHER_BOUND };

int run(const Call& c) {
  const int64_t size = c.elements(G), factor = c.attribute(FACTOR), other_factor = c.attribute(OTHER_FACTOR);
  for (int64_t n = 0; n < c.samples(); ++n) {
    const int64_t e = c.data<int32_t>(E)[n] - c.attribute(SHIFT);
    const int64_t other_e = c.has(OTHER) ? c.data<int32_t>(OTHER_E)[n] - c.attribute(OTHER_SHIFT) : kNoGradient;
    const Alignment both = align(e, c.attribute(BOUND), other_e, c.attribute(OTHER_BOUND));
    auto fill = [&](int64_t at, int64_t count, int64_t* tile) {
      int64_t other[kTile];
      widen(c.type(G), c.bytes(G), n * size + at, count, tile);
      for (int64_t i = 0; i < count; ++i) tile[i] = both.live[0] ? round_shift(mul(tile[i], factor), both.shift[0]) : 0;
      if (!both.live[1]) return;
      widen(c.type(OTHER), c.bytes(OTHER), n * size + at, count, other);
      for (int64_t i = 0; i < count; ++i)
        tile[i] = add(tile[i], round_shift(mul(other[i], other_factor), both.shift[1]));
    };
    quantise_sample(fill, size, both.exponent, c.attribute(BITS), c.type(GX), c.bytes(GX), n * size,
                    c.data<int32_t>(EX) + n);
  }
  return BR_OK;
}

}  // namespace
}  // namespace gradient_sum

}  // namespace bitreplay
