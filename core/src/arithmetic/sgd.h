// One step of stochastic gradient descent on int32 masters: the twin of engine/arithmetic/sgd.py, docs/law.md section
// 9.
#pragma once
#include "arithmetic/counter.h"
#include "arithmetic/fixedpoint.h"
#include "bitreplay.h"

namespace bitreplay {

constexpr int64_t kInt32Max = (int64_t(1) << 31) - 1;

// What is the same for all elements of a tensor: constant * rate / samples, and the generator's key.
struct Step {
  int64_t mantissa, shift;
  uint64_t key;
};

static inline Step step_of(int64_t mantissa, int64_t shift, const br_run_args& run, int64_t number) {
  int64_t product = divide_floor(mul(mantissa, run.rate_mantissa), run.samples);
  int64_t down = max_of(bit_length(product) - 31, 0);
  return {round_shift(product, down), shift + run.rate_shift - down, counter_key(run.seed, run.step, uint64_t(number))};
}

static inline int64_t to_31_bits(int64_t x, int64_t* down) {
  *down = max_of(bit_length(x) - 31, 0);
  return round_shift(x, *down);
}

// What a step takes away, in units of the parameter.
static inline int64_t change_of(int64_t gradient, int64_t exponent, const Step& step, uint32_t element) {
  int64_t down;
  int64_t product = mul(to_31_bits(gradient, &down), step.mantissa);
  int64_t total = sub(step.shift - down, exponent);
  if (total < 0) product = saturate(product, -kInt32Max, kInt32Max);
  return stochastic_shift(product, max_of(total, -31), random_bits(step.key, element));
}

static inline int32_t descend(int32_t master, int64_t gradient, int64_t exponent, const Step& step, uint32_t element) {
  return int32_t(saturate(sub(master, change_of(gradient, exponent, step, element)), -kInt32Max, kInt32Max));
}

}  // namespace bitreplay
