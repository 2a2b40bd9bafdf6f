// The integer exponential of softmax: the twin of engine/arithmetic/softmax.py.
#pragma once
#include "arithmetic/fixedpoint.h"

namespace bitreplay {

constexpr int64_t kLogitPoint = 16, kProbabilityPoint = 30;

// e^-t with 30 bits behind the point, t >= 0 with 16.
static inline int64_t exp_minus(int64_t t) {
  constexpr int64_t log2_e = 1549082005, largest = int64_t(40) << kLogitPoint;
  constexpr int64_t exp2[] = {1073741824, -744261114, 257941163, -59596395, 10324651, -1425731, 158139, -11624};
  if (t > largest) return 0;
  const int64_t power = round_shift(t * log2_e, kLogitPoint), part = power & ((int64_t(1) << kProbabilityPoint) - 1);
  int64_t value = exp2[7];
  for (int i = 6; i >= 0; --i) value = round_shift(value * part, kProbabilityPoint) + exp2[i];
  return round_shift(value, power >> kProbabilityPoint);
}

// Probabilities with 30 bits behind the point: below(c), at least 0, is how far the logit of class c is below the best.
template <class Below>
static inline void softmax(uint32_t classes, const Below& below, int32_t* probabilities) {
  int64_t total = 0;
  for (uint32_t c = 0; c < classes; ++c) total += probabilities[c] = int32_t(exp_minus(below(c)));
  for (uint32_t c = 0; c < classes; ++c)
    probabilities[c] = int32_t(((int64_t(probabilities[c]) << kProbabilityPoint) + (total >> 1)) / total);
}

}  // namespace bitreplay
