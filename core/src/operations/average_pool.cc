// average_pool and its gradient: engine/layers/average_pool.py.
#include "operations.h"
#include "quant.h"
#include "operations/average_pool_loops.h"

namespace bitreplay {
namespace {

// `map` holds whole windows for every pixel of `pooled`.
void check_windows(Checker& c, int map, int pooled, int window_h, int window_w) {
  c.range(window_h, 1, 1 << 16);
  c.range(window_w, 1, 1 << 16);
  if (!c.ok()) return;
  c.require(c.size(map, 2) == c.size(pooled, 2), "the channels differ");
  c.require(c.size(pooled, 0) * c.attribute(window_h) <= c.size(map, 0) &&
                c.size(pooled, 1) * c.attribute(window_w) <= c.size(map, 1), "the windows do not fit the map");
}

}  // namespace

namespace average_pool {

void check(Checker& c) {
  c.per_sample(X, kStored, 3);
  c.per_sample(Y, kStored, 3);
  check_windows(c, X, Y, WINDOW_H, WINDOW_W);
  c.value(X_ZERO);
  c.mantissa(MANTISSA);
  c.shift(SHIFT);
  c.value(Y_ZERO);
  c.value(LOW);
  c.value(HIGH);
}

}  // namespace average_pool

namespace average_pool_input_grad {

void check(Checker& c) {
  c.per_sample(G, kStored, 3);
  c.exponents(E);
  c.per_sample(GX, kStored, 3);
  c.exponents(EX);
  check_windows(c, GX, G, WINDOW_H, WINDOW_W);
  c.mantissa(MANTISSA);
  c.shift(SHIFT);
  c.gradient_bits(BITS, GX);
}

}  // namespace average_pool_input_grad

extern const Operation kAveragePool = {"average_pool", 30, "x", "y",
                                       "window_h window_w x_zero mantissa shift y_zero low high", average_pool::check,
                                       average_pool::run, -1, nullptr, nullptr};
extern const Operation kAveragePoolInputGrad = {"average_pool_input_grad", 31, "g e", "gx ex",
                                                "window_h window_w mantissa shift bits", average_pool_input_grad::check,
                                                average_pool_input_grad::run, -1, nullptr, nullptr};

}  // namespace bitreplay
