// Scores to logits: times pictures 2^(exponent + 16), as a mantissa of 31 bits and a shift, then divided by the
// temperature. docs/law.md section 14; engine/answers.py, `logits`, is the reference.
#pragma once
#include "arithmetic/softmax.h"
#include "sums/solve.h"

namespace bitreplay {

constexpr int64_t kFar = int64_t(32) << kLogitPoint;  // a logit so far below the best has a probability of 0
constexpr int64_t kReach = kFar << 10;                // as far, before the temperature divides it

struct Logits {
  int64_t reach, drop, mantissa, shift, temperature;  // scores are cut at `reach` below the best

  Logits(const br_solution& solution, int64_t divisor) : temperature(divisor) {
    const int64_t unit = solution.pictures, bits = bit_length(unit), point = solution.exponent + kLogitPoint;
    // REACH / unit is 2^k / pictures.
    const int64_t k = bit_length(kReach) - 1 - point;
    int64_t length;
    if (k <= 62) {
      reach = k < 0 ? 1 : (int64_t(1) << k) / unit + 1;
      length = bit_length(reach);
    } else {  // pictures < 2^31: one more makes it longer only where it is a power of two
      length = k - bits + 1 + ((unit & (unit - 1)) == 0);
      reach = length > 62 ? int64_t(1) << 62 : wide_reach(k, unit);
    }
    drop = max_of(length - 31, 0);
    mantissa = left(unit, 31 - bits);
    shift = 31 - bits - point - drop;
  }

  // 2^k / unit + 1 for k above 62, where it is below 2^62: long division by bits.
  static int64_t wide_reach(int64_t k, int64_t unit) {
    int64_t quotient = 0, rest = 1;
    for (int64_t i = 0; i < k; ++i) {
      rest *= 2;
      quotient = 2 * quotient + (rest >= unit);
      if (rest >= unit) rest -= unit;
    }
    return quotient + 1;
  }

  // How far a score that is `below` the best is below it as a logit.
  int64_t operator()(int64_t below) const {
    const int64_t plain = round_shift(mul(min_of(below, reach) >> drop, mantissa), shift);
    return min_of(divide_round(left(plain, kLogitPoint), temperature), kFar);
  }
};

}  // namespace bitreplay
