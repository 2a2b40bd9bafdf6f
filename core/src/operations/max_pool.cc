// max_pool and max_pool_input_grad: engine/layers/max_pool.py.
#include "kernels/taps.h"
#include "operations.h"
#include "pixels.h"
#include "quant.h"
#include "operations/max_pool_loops.h"

namespace bitreplay {
namespace {

using namespace max_window;

constexpr int64_t kLargestSize = 1 << 16;

void check_windows(Checker& c, int map, int pooled) {
  c.range(WINDOW, 1, 15);
  c.range(STRIDE, 1, kLargestSize);
  c.range(PAD, 0, kLargestSize);
  if (!c.ok()) return;
  c.require(c.size(map, 2) == c.size(pooled, 2), "the channels differ");
  for (int axis = 0; axis < 2; ++axis)
    c.require(c.size(map, axis) <= kLargestSize && c.size(pooled, axis) <= kLargestSize, "the map is too large");
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
  c.value(X_ZERO);
  c.mantissa(MANTISSA);
  c.shift(SHIFT);
  c.value(Y_ZERO);
  c.value(LOW);
  c.value(HIGH);
}

}  // namespace max_pool

namespace max_pool_input_grad {

void check(Checker& c) {
  c.per_sample(G, kStored, 3);
  c.exponents(E);
  c.per_sample(PLACE, type_bit(BR_UINT8), 3);
  c.same_shape(G, PLACE);
  c.per_sample(GX, kStored, 3);
  c.exponents(EX);
  check_windows(c, GX, G);
  c.mantissa(MANTISSA);
  c.shift(SHIFT);
  c.gradient_bits(BITS, GX);
}

}  // namespace max_pool_input_grad

extern const Operation kMaxPool = {"max_pool", 160, "x", "y place?",
                                   "window stride pad x_zero mantissa shift y_zero low high", max_pool::check,
                                   max_pool::run, -1, nullptr, nullptr};
extern const Operation kMaxPoolInputGrad = {"max_pool_input_grad", 161, "g e place", "gx ex",
                                            "window stride pad mantissa shift bits", max_pool_input_grad::check,
                                            max_pool_input_grad::run, -1, nullptr, nullptr};

}  // namespace bitreplay
