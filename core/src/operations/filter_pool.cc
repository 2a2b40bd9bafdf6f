// filter_pool and filter_pool_input_grad: engine/layers/filter_pool.py.
#include "kernels/taps.h"
#include "operations.h"
#include "pixels.h"
#include "quant.h"
#include "operations/filter_pool_loops.h"

namespace bitreplay {
namespace {

using namespace filter_window;

constexpr int64_t kLargestSize = 1 << 16;

void check_windows(Checker& c, int map, int pooled, int kernel) {
  c.whole(kernel, type_bit(BR_INT32), 2);
  c.range(STRIDE, 1, kLargestSize);
  c.range(PAD, 0, kLargestSize);
  if (!c.ok()) return;
  c.require(c.size(kernel, 0) == c.size(kernel, 1) && c.size(kernel, 0) <= kLargestSize, "the kernel is not square");
  c.require(c.size(map, 2) == c.size(pooled, 2), "the channels differ");
  for (int axis = 0; axis < 2; ++axis)
    c.require(c.size(map, axis) <= kLargestSize && c.size(pooled, axis) <= kLargestSize, "the map is too large");
}

}  // namespace

namespace filter_pool {

void check(Checker& c) {
  c.per_sample(X, kStored, 3);
  c.per_sample(Y, kStored, 3);
  check_windows(c, X, Y, KERNEL);
  c.value(X_ZERO);
  c.mantissa(MANTISSA);
  c.shift(SHIFT);
  c.value(Y_ZERO);
  c.value(LOW);
  c.value(HIGH);
}

}  // namespace filter_pool

namespace filter_pool_input_grad {

void check(Checker& c) {
  c.per_sample(G, kStored, 3);
  c.exponents(E);
  c.per_sample(GX, kStored, 3);
  c.exponents(EX);
  check_windows(c, GX, G, KERNEL);
  c.mantissa(MANTISSA);
  c.shift(SHIFT);
  c.gradient_bits(BITS, GX);
}

}  // namespace filter_pool_input_grad

extern const Operation kFilterPool = {"filter_pool", 32, "x kernel", "y",
                                      "stride pad x_zero mantissa shift y_zero low high", filter_pool::check,
                                      filter_pool::run, -1, nullptr, nullptr};
extern const Operation kFilterPoolInputGrad = {"filter_pool_input_grad", 33, "g e kernel", "gx ex",
                                               "stride pad mantissa shift bits", filter_pool_input_grad::check,
                                               filter_pool_input_grad::run, -1, nullptr, nullptr};

}  // namespace bitreplay
