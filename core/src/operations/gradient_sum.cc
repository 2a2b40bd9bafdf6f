// gradient_sum: engine/layers/gradient_sum.py.
#include "operations.h"
#include "quant.h"

namespace bitreplay {
namespace gradient_sum {

enum { G, E, OTHER, OTHER_E, GX, EX };
enum { FACTOR, SHIFT, BOUND, BITS, OTHER_FACTOR, OTHER_SHIFT, OTHER_BOUND };

void check(Checker& c) {
  if (!c.ok()) return;
  const int dimensions = int(c.tensor(G).info.dimensions);
  c.per_sample(G, kWide, dimensions);
  c.exponents(E);
  c.require(c.has(OTHER) == c.has(OTHER_E), "a second gradient lacks its exponents");
  if (c.has(OTHER) && c.ok()) {
    c.per_sample(OTHER, kWide, dimensions);
    c.same_shape(G, OTHER);
    c.exponents(OTHER_E);
  }
  c.per_sample(GX, kStored, dimensions);
  c.same_shape(G, GX);
  c.exponents(EX);
  c.value(FACTOR);
  c.shift(SHIFT);
  c.range(BOUND, 0, 4096);
  c.gradient_bits(BITS, GX);
  c.value(OTHER_FACTOR);
  c.shift(OTHER_SHIFT);
  c.range(OTHER_BOUND, 0, 4096);
}

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
      for (int64_t i = 0; i < count; ++i) tile[i] = add(tile[i], round_shift(mul(other[i], other_factor), both.shift[1]));
    };
    quantise_sample(fill, size, both.exponent, c.attribute(BITS), c.type(GX), c.bytes(GX), n * size,
                    c.data<int32_t>(EX) + n);
  }
  return BR_OK;
}

}  // namespace gradient_sum

extern const Operation kGradientSum = {"gradient_sum", 40, "g e other? other_e?", "gx ex",
                                       "factor shift bound bits other_factor other_shift other_bound",
                                       gradient_sum::check, gradient_sum::run, -1, nullptr, nullptr};

}  // namespace bitreplay
