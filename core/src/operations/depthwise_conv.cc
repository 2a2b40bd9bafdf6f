// depthwise_conv, learned_depthwise and their gradients: engine/layers/depthwise_conv.py.
#include "kernels/taps.h"
#include "operations.h"
#include "pixels.h"
#include "quant.h"
#include "sgd.h"
#include "operations/depthwise_conv_loops.h"

namespace bitreplay {
namespace {

constexpr int64_t kLargestSize = 1 << 16;

// Weights (channels, kernel, kernel) between two maps of as many channels.
void check_geometry(Checker& c, int weights, int map, int result, int stride, int pad) {
  c.range(stride, 1, kLargestSize);
  c.range(pad, 0, kLargestSize);
  if (!c.ok()) return;
  c.require(c.size(weights, 1) == c.size(weights, 2) && c.size(weights, 1) <= kLargestSize, "the kernel is not square");
  c.require(c.size(weights, 0) == c.size(map, 2) && c.size(weights, 0) == c.size(result, 2),
            "the weights do not fit the channels");
  for (int axis = 0; axis < 2; ++axis)
    c.require(c.size(map, axis) <= kLargestSize && c.size(result, axis) <= kLargestSize, "the map is too large");
}

using namespace depthwise;

void check_forward(Checker& c, int sums) {
  c.per_sample(X, kStored, 3);
  c.whole(W, kStored, 3);
  c.per_sample(sums, type_bit(BR_INT32), 3);
  check_geometry(c, W, X, sums, STRIDE, PAD);
  c.value(X_ZERO);
  c.shift(DOWN);
}

}  // namespace

namespace depthwise_conv {

void check(Checker& c) { check_forward(c, SUMS); }

}  // namespace depthwise_conv

namespace learned_depthwise {

void check(Checker& c) {
  check_forward(c, SUMS);
  if (c.ok()) c.vector(EXPONENTS, BR_INT32, c.size(W, 0));
  c.range(LIMIT, 0, kInt32Max);
}

}  // namespace learned_depthwise

namespace depthwise_conv_input_grad {

void check(Checker& c) {
  c.per_sample(G, kStored, 3);
  c.exponents(E);
  c.whole(WEIGHTS, kStored, 3);
  c.per_sample(GX, kStored, 3);
  c.exponents(EX);
  check_geometry(c, WEIGHTS, GX, G, STRIDE, PAD);
  if (c.has(EXPONENTS) && c.ok()) c.vector(EXPONENTS, BR_INT32, c.size(WEIGHTS, 0));
  c.range(ROOM, 0, 62);
  c.shift(DOWN);
  c.gradient_bits(BITS, GX);
}

}  // namespace depthwise_conv_input_grad

namespace learned_depthwise_update {

void check(Checker& c) {
  c.whole(WEIGHTS, type_bit(BR_INT32), 3);
  c.per_sample(G, kStored, 3);
  c.exponents(E);
  c.per_sample(X, kStored, 3);
  check_geometry(c, WEIGHTS, X, G, STRIDE, PAD);
  c.value(X_ZERO);
  c.range(BOUND, 0, 4096);
  c.mantissa(MANTISSA);
  c.shift(SHIFT);
  c.range(NUMBER, 0, kInt32Max);
}

}  // namespace learned_depthwise_update

extern const Operation kDepthwiseConv = {"depthwise_conv", 55, "x w", "sums", "x_zero stride pad down",
                                         depthwise_conv::check, depthwise_conv::run, -1, nullptr, nullptr};
extern const Operation kLearnedDepthwise = {"learned_depthwise", 56, "x w exponents", "sums",
                                            "x_zero stride pad down limit", learned_depthwise::check,
                                            learned_depthwise::run, -1, nullptr, nullptr};
extern const Operation kDepthwiseConvInputGrad = {
    "depthwise_conv_input_grad", 57, "g e w exponents?", "gx ex", "stride pad room down bits",
    depthwise_conv_input_grad::check, depthwise_conv_input_grad::run, -1, nullptr, nullptr};
extern const Operation kLearnedDepthwiseUpdate = {
    "learned_depthwise_update", 58, "weights g e x", "weights", "x_zero stride pad bound mantissa shift number",
    learned_depthwise_update::check, learned_depthwise_update::run, -1, nullptr, nullptr, true};

}  // namespace bitreplay
