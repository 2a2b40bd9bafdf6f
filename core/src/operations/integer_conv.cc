// integer_conv: engine/layers/integer_conv.py.
#include "operations.h"

namespace bitreplay {
namespace integer_conv {

constexpr int64_t kLargestSize = 1 << 16;

enum { X, W, SUMS };
enum { X_ZERO, STRIDE, PAD, DOWN };

void check(Checker& c) {
  c.per_sample(X, kStored, 3);
  c.whole(W, kStored, 4);
  c.per_sample(SUMS, type_bit(BR_INT32), 3);
  c.value(X_ZERO);
  c.range(STRIDE, 1, kLargestSize);
  c.range(PAD, 0, kLargestSize);
  c.shift(DOWN);
  if (!c.ok()) return;
  c.require(c.size(W, 1) == c.size(W, 2) && c.size(W, 1) <= kLargestSize, "the kernel is not square");
  c.require(c.size(W, 3) == c.size(X, 2), "the weights do not fit the channels");
  c.require(c.size(W, 0) == c.size(SUMS, 2), "the weights do not fit the outputs");
  for (int axis = 0; axis < 2; ++axis)
    c.require(c.size(X, axis) <= kLargestSize && c.size(SUMS, axis) <= kLargestSize, "the map is too large");
}

int run(const Call& c) {
  c.kernels().integer_conv({c.samples(), c.size(X, 0), c.size(X, 1), c.size(X, 2), c.size(W, 0), c.size(W, 1),
                            c.size(SUMS, 0), c.size(SUMS, 1), c.attribute(X_ZERO), c.attribute(STRIDE),
                            c.attribute(PAD), c.attribute(DOWN), c.bytes(X), c.type(X), c.bytes(W), c.type(W),
                            c.data<int32_t>(SUMS)});
  return BR_OK;
}

}  // namespace integer_conv

extern const Operation kIntegerConv = {"integer_conv", 50, "x w", "sums", "x_zero stride pad down",
                                       integer_conv::check, integer_conv::run, -1, nullptr, nullptr};

}  // namespace bitreplay
