// Loops of batchnorm_fold and batchnorm_update; the layer: engine/layers/batchnorm.py.
#pragma once
#include "arithmetic/fixedpoint.h"
#include "arithmetic/sgd.h"
#include "machine/call.h"

namespace bitreplay {
namespace batchnorm_fold {
namespace {

constexpr int64_t kOffsetLimit = (int64_t(1) << 61) - 1;

enum { GAMMA, BETA, MEAN, FACTOR, A, B };
enum { A_SHIFT, A_LIMIT, MEAN_SHIFT, BETA_MANTISSA, BETA_SHIFT };

int run(const Call& c) {
  const int32_t *gamma = c.data<int32_t>(GAMMA), *beta = c.data<int32_t>(BETA), *mean = c.data<int32_t>(MEAN),
                *factor = c.data<int32_t>(FACTOR);
  const int64_t limit = c.attribute(A_LIMIT);
  for (int64_t i = 0; i < c.size(GAMMA, 0); ++i) {
    const int64_t a = saturate(round_shift(mul(gamma[i], factor[i]), c.attribute(A_SHIFT)), -limit, limit);
    const int64_t offset = sub(round_shift(mul(beta[i], c.attribute(BETA_MANTISSA)), c.attribute(BETA_SHIFT)),
                               round_shift(mul(a, mean[i]), c.attribute(MEAN_SHIFT)));
    c.data<int32_t>(A)[i] = int32_t(a);
    c.data<int64_t>(B)[i] = saturate(offset, -kOffsetLimit, kOffsetLimit);
  }
  return BR_OK;
}

}  // namespace
}  // namespace batchnorm_fold

namespace batchnorm_update {
namespace {

enum { GAMMA, BETA, P, Q, PE, MEAN, FACTOR };
enum { MEAN_SHIFT, GAMMA_MANTISSA, GAMMA_SHIFT, BETA_MANTISSA, BETA_SHIFT, NUMBER };

int run(const Call& c) {
  int32_t *gamma = c.data<int32_t>(GAMMA), *beta = c.data<int32_t>(BETA);
  const int32_t *mean = c.data<int32_t>(MEAN), *factor = c.data<int32_t>(FACTOR);
  const int64_t *p = c.data<int64_t>(P), *q = c.data<int64_t>(Q);
  const int64_t exponent = *c.data<int32_t>(PE), mean_shift = c.attribute(MEAN_SHIFT), number = c.attribute(NUMBER);
  const Step gamma_step = step_of(c.attribute(GAMMA_MANTISSA), c.attribute(GAMMA_SHIFT), c.run, number);
  const Step beta_step = step_of(c.attribute(BETA_MANTISSA), c.attribute(BETA_SHIFT), c.run, number + 1);
  for (int64_t i = 0; i < c.size(GAMMA, 0); ++i) {
    int64_t down;
    const int64_t centred = to_31_bits(sub(left(p[i], mean_shift), mul(mean[i], q[i])), &down);
    gamma[i] = descend(gamma[i], mul(centred, factor[i]), exponent - mean_shift + down, gamma_step, uint32_t(i));
    beta[i] = descend(beta[i], q[i], exponent, beta_step, uint32_t(i));
  }
  return BR_OK;
}

}  // namespace
}  // namespace batchnorm_update

}  // namespace bitreplay
