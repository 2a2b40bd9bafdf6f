// binary_conv and binary_conv_input_grad; the layer: engine/layers/binary_conv.py.
#include "arithmetic/packing.h"
#include "machine/operation.h"
#include "operations/window.h"

namespace bitreplay {
namespace {

// What both share: a map of (height, width), weights (outputs, kernel, kernel, words), a result map of `outputs`.
void check_geometry(Checker& c, int weights, int64_t channels, int map, int result) {
  c.whole(weights, type_bit(BR_UINT64), 4);
  c.square(weights, 1);
  c.window(map, result);
  if (!c.ok()) return;
  c.require(channels >= 1 && c.size(weights, 3) == words_for(channels), "the weights do not match the channels");
  c.require(c.size(result, 2) == c.size(weights, 0), "the weights do not match the outputs");
}

}  // namespace

namespace binary_conv {

enum { X, W, SUMS };
enum { CHANNELS, STRIDE, PAD, PADDING };

void check(Checker& c) {
  c.per_sample(X, type_bit(BR_UINT64), 3);
  c.per_sample(SUMS, type_bit(BR_INT16), 3);
  c.range(CHANNELS, 1, (1 << 15) - 1);
  c.range(PADDING, 0, 1);
  if (!c.ok()) return;
  check_geometry(c, W, c.attribute(CHANNELS), X, SUMS);
  if (!c.ok()) return;
  c.require(c.size(X, 2) == c.size(W, 3), "the weights do not match the signs");
  c.require(c.size(W, 1) * c.size(W, 2) * c.attribute(CHANNELS) < 1 << 15, "the sums do not fit int16");
}

BinaryConvArgs arguments(const Call& c) {
  BinaryConvArgs a = window_arguments<BinaryConvArgs>(c, X, W, SUMS, STRIDE, PAD);
  a.words = c.size(X, 2);
  a.channels = c.attribute(CHANNELS);
  a.padding = c.attribute(PADDING);
  return a;
}

bool reads_in_place(const Call& c) { return !c.kernels().binary_conv.packed_weights_bytes; }

int run(const Call& c) {
  BinaryConvArgs a = arguments(c);
  a.x = c.data<uint64_t>(X);
  a.w = reinterpret_cast<const uint64_t*>(reads_in_place(c) ? c.bytes(W) : c.packed_weights());
  a.sums = c.data<int16_t>(SUMS);
  c.kernels().binary_conv.run(a);
  return BR_OK;
}

uint64_t packed_weights_bytes(const Call& c) {
  return reads_in_place(c) ? 0 : c.kernels().binary_conv.packed_weights_bytes(arguments(c));
}

void pack_weights(const Call& c, uint8_t* packed_weights) {
  BinaryConvArgs a = arguments(c);
  a.w = c.data<uint64_t>(W);
  c.kernels().binary_conv.pack_weights(a, packed_weights);
}

}  // namespace binary_conv

namespace binary_conv_input_grad {

enum { G, W, GX };
enum { CHANNELS, STRIDE, PAD };

void check(Checker& c) {
  c.per_sample(G, kStored, 3);
  c.per_sample(GX, type_bit(BR_INT32) | type_bit(BR_INT64), 3);
  if (!c.ok()) return;
  c.require(c.attribute(CHANNELS) == c.size(GX, 2), "the gradient does not match the channels");
  check_geometry(c, W, c.size(GX, 2), GX, G);
}

BinaryConvInputGradArgs arguments(const Call& c) {
  BinaryConvInputGradArgs a = window_arguments<BinaryConvInputGradArgs>(c, GX, W, G, STRIDE, PAD);
  a.words = c.size(W, 3);
  a.channels = c.attribute(CHANNELS);
  a.g_type = c.type(G);
  a.gx_type = c.type(GX);
  return a;
}

uint64_t packed_weights_bytes(const Call& c) {
  return c.kernels().binary_conv_input_grad.packed_weights_bytes(arguments(c));
}

void pack_weights(const Call& c, uint8_t* packed_weights) {
  BinaryConvInputGradArgs a = arguments(c);
  a.w = c.data<uint64_t>(W);
  c.kernels().binary_conv_input_grad.pack_weights(a, packed_weights);
}

int run(const Call& c) {
  BinaryConvInputGradArgs a = arguments(c);
  a.g = c.bytes(G);
  a.packed_weights = c.packed_weights();
  a.gx = c.bytes(GX);
  c.kernels().binary_conv_input_grad.run(a);
  return BR_OK;
}

}  // namespace binary_conv_input_grad

extern const Operation kBinaryConv = {.name = "binary_conv",
                                      .code = 12,
                                      .reads = "x w",
                                      .writes = "sums",
                                      .attributes = "channels stride pad padding",
                                      .check = binary_conv::check,
                                      .run = binary_conv::run,
                                      .weights = binary_conv::W,
                                      .packed_weights_bytes = binary_conv::packed_weights_bytes,
                                      .pack_weights = binary_conv::pack_weights};
extern const Operation kBinaryConvInputGrad = {.name = "binary_conv_input_grad",
                                               .code = 13,
                                               .reads = "g w",
                                               .writes = "gx",
                                               .attributes = "channels stride pad",
                                               .check = binary_conv_input_grad::check,
                                               .run = binary_conv_input_grad::run,
                                               .weights = binary_conv_input_grad::W,
                                               .packed_weights_bytes = binary_conv_input_grad::packed_weights_bytes,
                                               .pack_weights = binary_conv_input_grad::pack_weights};

}  // namespace bitreplay
