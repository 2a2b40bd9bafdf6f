// batchnorm_fold and batchnorm_update; the layer: engine/layers/batchnorm.py.
#include "fixedpoint.h"
#include "operations.h"
#include "sgd.h"

namespace bitreplay {
namespace batchnorm_fold {

constexpr int64_t kOffsetLimit = (int64_t(1) << 61) - 1;

enum { GAMMA, BETA, MEAN, FACTOR, A, B };
enum { A_SHIFT, A_LIMIT, MEAN_SHIFT, BETA_MANTISSA, BETA_SHIFT };

void check(Checker& c) {
  c.whole(GAMMA, type_bit(BR_INT32), 1);
  if (c.ok()) {
    const int64_t channels = c.size(GAMMA, 0);
    const int rows[] = {BETA, MEAN, FACTOR, A};
    for (int role : rows) c.vector(role, BR_INT32, channels);
    c.vector(B, BR_INT64, channels);
  }
  c.shift(A_SHIFT);
  c.range(A_LIMIT, 0, kInt32Max);
  c.shift(MEAN_SHIFT);
  c.mantissa(BETA_MANTISSA);
  c.shift(BETA_SHIFT);
}

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

}  // namespace batchnorm_fold

namespace batchnorm_update {

enum { GAMMA, BETA, P, Q, PE, MEAN, FACTOR };
enum { MEAN_SHIFT, GAMMA_MANTISSA, GAMMA_SHIFT, BETA_MANTISSA, BETA_SHIFT, NUMBER };

void check(Checker& c) {
  c.whole(GAMMA, type_bit(BR_INT32), 1);
  if (c.ok()) {
    const int64_t channels = c.size(GAMMA, 0);
    const int rows[] = {BETA, MEAN, FACTOR}, sums[] = {P, Q};
    for (int role : rows) c.vector(role, BR_INT32, channels);
    for (int role : sums) c.vector(role, BR_INT64, channels);
  }
  c.vector(PE, BR_INT32, 1);
  c.range(MEAN_SHIFT, 0, 62);
  c.mantissa(GAMMA_MANTISSA);
  c.shift(GAMMA_SHIFT);
  c.mantissa(BETA_MANTISSA);
  c.shift(BETA_SHIFT);
  c.range(NUMBER, 0, kInt32Max);
}

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

}  // namespace batchnorm_update

extern const Operation kBatchnormFold = {"batchnorm_fold", 20, "gamma beta mean factor", "a b",
                                         "a_shift a_limit mean_shift beta_mantissa beta_shift", batchnorm_fold::check,
                                         batchnorm_fold::run, -1, nullptr, nullptr};
extern const Operation kBatchnormUpdate = {
    "batchnorm_update", 24, "gamma beta p q pe mean factor", "gamma beta",
    "mean_shift gamma_mantissa gamma_shift beta_mantissa beta_shift number", batchnorm_update::check,
    batchnorm_update::run, -1, nullptr, nullptr};

}  // namespace bitreplay
