// average_pool and its gradient: engine/layers/average_pool.py.
#include "arithmetic/quant.h"
#include "kernels/pool/average_pool_loops.h"
#include "machine/operation.h"

namespace bitreplay {
namespace {

// `map` holds whole windows for every pixel of `pooled`.
void check_windows(Checker& c, int map, int pooled, int window_h, int window_w) {
  c.range(window_h, 1, 1 << 16);
  c.range(window_w, 1, 1 << 16);
  if (!c.ok()) return;
  c.require(c.size(map, 2) == c.size(pooled, 2), "the channels differ");
  c.require(c.size(pooled, 0) * c.attribute(window_h) <= c.size(map, 0) &&
                c.size(pooled, 1) * c.attribute(window_w) <= c.size(map, 1),
            "the windows do not match the map");
}

}  // namespace

namespace average_pool {

void check(Checker& c) {
  c.per_sample(X, kStored, 3);
  c.per_sample(Y, kStored, 3);
  check_windows(c, X, Y, WINDOW_H, WINDOW_W);
  c.rescale();
}

}  // namespace average_pool

namespace average_pool_input_grad {

void check(Checker& c) {
  c.input_grad();
  check_windows(c, GX, G, WINDOW_H, WINDOW_W);
  c.multiplier();
}

}  // namespace average_pool_input_grad

extern const Operation kAveragePool = {.name = "average_pool",
                                       .code = 30,
                                       .reads = "x",
                                       .writes = "y",
                                       .attributes = "window_h window_w x_zero mantissa shift y_zero low high",
                                       .check = average_pool::check,
                                       .run = average_pool::run};
extern const Operation kAveragePoolInputGrad = {.name = "average_pool_input_grad",
                                                .code = 31,
                                                .reads = "g e",
                                                .writes = "gx ex",
                                                .attributes = "window_h window_w mantissa shift bits",
                                                .check = average_pool_input_grad::check,
                                                .run = average_pool_input_grad::run};

}  // namespace bitreplay
