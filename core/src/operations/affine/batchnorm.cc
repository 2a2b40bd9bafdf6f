// batchnorm_fold and batchnorm_update; the layer: engine/layers/batchnorm.py.
#include "arithmetic/fixedpoint.h"
#include "arithmetic/sgd.h"
#include "kernels/affine/batchnorm_loops.h"
#include "machine/operation.h"

namespace bitreplay {
namespace batchnorm_fold {

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

}  // namespace batchnorm_fold

namespace batchnorm_update {

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

}  // namespace batchnorm_update

extern const Operation kBatchnormFold = {.name = "batchnorm_fold",
                                         .code = 20,
                                         .reads = "gamma beta mean factor",
                                         .writes = "a b",
                                         .attributes = "a_shift a_limit mean_shift beta_mantissa beta_shift",
                                         .check = batchnorm_fold::check,
                                         .run = batchnorm_fold::run};
extern const Operation kBatchnormUpdate = {
    .name = "batchnorm_update",
    .code = 24,
    .reads = "gamma beta p q pe mean factor",
    .writes = "gamma beta",
    .attributes = "mean_shift gamma_mantissa gamma_shift beta_mantissa beta_shift number",
    .check = batchnorm_update::check,
    .run = batchnorm_update::run};

}  // namespace bitreplay
