// Quotients and square roots of numbers of 128 bits, for machines whose compiler has none: docs/law.md section 10.
#pragma once
#include <cstdint>

namespace bitreplay {

struct Double {
  uint64_t high, low;
};

// x / by rounded down, 0 < by < 2^63: long division by bits.
static inline Double quotient(Double x, uint64_t by) {
  Double result = {0, 0};
  uint64_t rest = 0;  // below `by`
  for (int bit = 127; bit >= 0; --bit) {
    const uint64_t next = bit >= 64 ? x.high >> (bit - 64) & 1 : x.low >> bit & 1;
    rest = rest << 1 | next;
    const uint64_t one = rest >= by;
    if (one) rest -= by;
    result = {result.high << 1 | result.low >> 63, result.low << 1 | one};
  }
  return result;
}

// The largest r with r^2 <= x, for x < 2^122: digit by digit, so that the rest stays below 2^64.
static inline uint64_t root(Double x) {
  uint64_t result = 0, rest = 0;
  for (int bit = 120; bit >= 0; bit -= 2) {
    const uint64_t next = bit >= 64 ? x.high >> (bit - 64) & 3 : x.low >> bit & 3;
    rest = rest << 2 | next;
    const uint64_t trial = result << 2 | 1, one = rest >= trial;
    if (one) rest -= trial;
    result = result << 1 | one;
  }
  return result;
}

}  // namespace bitreplay
