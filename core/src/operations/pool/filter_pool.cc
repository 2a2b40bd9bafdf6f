// filter_pool and filter_pool_input_grad: engine/layers/filter_pool.py.
#include "arithmetic/pixels.h"
#include "arithmetic/quant.h"
#include "arithmetic/sliding_window.h"
#include "kernels/pool/filter_pool_loops.h"
#include "machine/operation.h"

namespace bitreplay {
namespace {

using namespace filter_window;

void check_windows(Checker& c, int map, int pooled, int kernel) {
  c.whole(kernel, type_bit(BR_INT32), 2);
  c.square(kernel, 0);
  c.window(map, pooled);
  if (c.ok()) c.require(c.size(map, 2) == c.size(pooled, 2), "the channels differ");
}

}  // namespace

namespace filter_pool {

void check(Checker& c) {
  c.per_sample(X, kStored, 3);
  c.per_sample(Y, kStored, 3);
  check_windows(c, X, Y, KERNEL);
  c.rescale();
}

}  // namespace filter_pool

namespace filter_pool_input_grad {

void check(Checker& c) {
  c.input_grad();
  check_windows(c, GX, G, KERNEL);
  c.multiplier();
}

}  // namespace filter_pool_input_grad

extern const Operation kFilterPool = {.name = "filter_pool",
                                      .code = 32,
                                      .reads = "x kernel",
                                      .writes = "y",
                                      .attributes = "stride pad x_zero mantissa shift y_zero low high",
                                      .check = filter_pool::check,
                                      .run = filter_pool::run};
extern const Operation kFilterPoolInputGrad = {.name = "filter_pool_input_grad",
                                               .code = 33,
                                               .reads = "g e kernel",
                                               .writes = "gx ex",
                                               .attributes = "stride pad mantissa shift bits",
                                               .check = filter_pool_input_grad::check,
                                               .run = filter_pool_input_grad::run};

}  // namespace bitreplay
