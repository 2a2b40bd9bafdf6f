// Means of classes with few pictures, drawn towards the middle of all: docs/law.md section 13, "Shrunk means".
// engine/shrunk_means.py is the reference.
//
//     m'_c = mu + f (m_c - mu),   f = n_c / (n_c + k)
//     W'_c = f W_c,   b'_c = f (b_c + 1/2 (1 - f) (m_c - mu) . W_c)
#pragma once
#include "sums/solve.h"

namespace bitreplay {

// f value; |value| < 2^60, 1 <= k <= 8.
static inline int64_t drawn(int64_t value, int64_t count, int64_t k) {
  return value - divide_round(k * value, count + k);
}

// (m_c - mu) . W_c of a class that has pictures, in the weights' unit.
// |whole| < 2^8, |rest| <= 2^15, |weights| <= 2^30, 2^13 features: sums below 2^51 and 2^58.
static inline int64_t apart(const br_sums& sums, const br_solution& solution, const int32_t* centre, int64_t c) {
  constexpr int64_t rest_bits = 16;
  const int64_t features = sums.features, count = sums.counts[c];
  int64_t wholes = 0, rests = 0;
  for (int64_t i = 0; i < features; ++i) {
    const int64_t away = sum_at(sums.class_sums, sums.bits, c * features + i) - count * centre[i];
    const int64_t whole = divide_round(away, count), weight = solution.weights[c * features + i];
    wholes += weight * whole;
    rests += weight * divide_round(left(away - whole * count, rest_bits), count);
  }
  return wholes + round_shift(rests, rest_bits);
}

// A class without pictures stays as it is.
static inline void shrink_means(const br_sums& sums, const int32_t* centre, int64_t k, br_solution* solution) {
  for (int64_t c = 0; c < sums.classes; ++c) {
    const int64_t count = sums.counts[c];
    if (!count) continue;
    const int64_t half = k * apart(sums, *solution, centre, c);
    int64_t& bias = solution->biases[c];
    bias = drawn(bias + divide_round(half, 2 * (count + k)), count, k);
    int32_t* const weights = solution->weights + c * sums.features;
    for (int64_t i = 0; i < sums.features; ++i) weights[i] = int32_t(drawn(weights[i], count, k));
  }
}

}  // namespace bitreplay
