// max_pool and max_pool_input_grad: engine/layers/max_pool.py.
#include "arithmetic/pixels.h"
#include "arithmetic/quant.h"
#include "arithmetic/sliding_window.h"
#include "kernels/pool/max_pool_loops.h"
#include "machine/operation.h"

namespace bitreplay {
namespace {

using namespace max_window;

void check_windows(Checker& c, int map, int pooled) {
  c.range(WINDOW, 1, 15);
  c.window(map, pooled);
  if (c.ok()) c.require(c.size(map, 2) == c.size(pooled, 2), "the channels differ");
}

}  // namespace

namespace max_pool {

void check(Checker& c) {
  c.per_sample(X, kStored, 3);
  c.per_sample(Y, kStored, 3);
  if (c.has(PLACE)) {
    c.per_sample(PLACE, type_bit(BR_UINT8), 3);
    c.same_shape(Y, PLACE);
  }
  check_windows(c, X, Y);
  c.rescale();
}

}  // namespace max_pool

namespace max_pool_input_grad {

void check(Checker& c) {
  c.input_grad();
  c.per_sample(PLACE, type_bit(BR_UINT8), 3);
  c.same_shape(G, PLACE);
  check_windows(c, GX, G);
  c.multiplier();
}

}  // namespace max_pool_input_grad

extern const Operation kMaxPool = {.name = "max_pool",
                                   .code = 160,
                                   .reads = "x",
                                   .writes = "y place?",
                                   .attributes = "window stride pad x_zero mantissa shift y_zero low high",
                                   .check = max_pool::check,
                                   .run = max_pool::run};
extern const Operation kMaxPoolInputGrad = {.name = "max_pool_input_grad",
                                            .code = 161,
                                            .reads = "g e place",
                                            .writes = "gx ex",
                                            .attributes = "window stride pad mantissa shift bits",
                                            .check = max_pool_input_grad::check,
                                            .run = max_pool_input_grad::run};

}  // namespace bitreplay
