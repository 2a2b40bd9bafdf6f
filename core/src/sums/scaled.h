// Lengths and scores in the law's unit: docs/law.md section 14, engine/ood.py.
#pragma once
#include "sums/solve.h"

namespace bitreplay {

constexpr int64_t kUnseenPoint = 16;

// value factor 2^exponent with 16 bits behind the point, within +-2^46; factor > 0.
static inline int64_t scaled(int64_t value, int64_t factor, int64_t exponent) {
  constexpr int64_t mantissa = 30, largest_bits = 46;
  const int64_t down = max_of(bit_length(value) - mantissa, 0), less = max_of(bit_length(factor) - mantissa, 0);
  const int64_t product = round_shift(value, down) * round_shift(factor, less);
  const int64_t shift = -(exponent + kUnseenPoint + down + less);
  if (!product) return 0;
  if (bit_length(product) - shift > largest_bits) return left(product < 0 ? -1 : 1, largest_bits);
  return round_shift(product, max_of(shift, -largest_bits));
}

}  // namespace bitreplay
