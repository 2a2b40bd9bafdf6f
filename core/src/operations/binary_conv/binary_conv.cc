// binary_conv and binary_conv_input_grad; the layer: engine/layers/binary_conv.py.
#include "arithmetic/packing.h"
#include "machine/operation.h"

namespace bitreplay {
namespace {

// What both share: a map of (height, width), weights (outputs, kernel, kernel, words), a result map of `outputs`.
void check_geometry(Checker& c, int weights, int64_t channels, int map, int result) {
  c.whole(weights, type_bit(BR_UINT64), 4);
  c.square(weights, 1);
  c.window(map, result);
  if (!c.ok()) return;
  c.require(channels >= 1 && c.size(weights, 3) == words_for(channels), "the weights do not fit the channels");
  c.require(c.size(result, 2) == c.size(weights, 0), "the weights do not fit the outputs");
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
  c.require(c.size(X, 2) == c.size(W, 3), "the weights do not fit the signs");
  c.require(c.size(W, 1) * c.size(W, 2) * c.attribute(CHANNELS) < 1 << 15, "the sums do not fit int16");
}

bool reads_in_place(const Call& c) { return c.kernels().binary_conv == binary_conv_in_place; }

int run(const Call& c) {
  const uint8_t* weights = reads_in_place(c) ? c.bytes(W) : c.derived();
  c.kernels().binary_conv({.samples = c.samples(), .height = c.size(X, 0), .width = c.size(X, 1), .words = c.size(X, 2),
                           .channels = c.attribute(CHANNELS), .outputs = c.size(W, 0), .kernel = c.size(W, 1),
                           .out_h = c.size(SUMS, 0), .out_w = c.size(SUMS, 1), .stride = c.attribute(STRIDE),
                           .pad = c.attribute(PAD), .padding = c.attribute(PADDING), .x = c.data<uint64_t>(X),
                           .w = reinterpret_cast<const uint64_t*>(weights), .sums = c.data<int16_t>(SUMS)});
  return BR_OK;
}

uint64_t derived_bytes(const Call& c) {
  if (reads_in_place(c)) return 0;
  const int64_t outputs = (c.size(W, 0) + kInterleaved - 1) / kInterleaved * kInterleaved;
  return uint64_t(8 * (outputs * c.size(W, 1) * c.size(W, 2) + 1) * c.size(W, 3));
}

// The layout of kernels/binary_conv/binary_conv.h, the same for all instruction sets.
void interleave_outputs(const Call& c, uint8_t* derived) {
  const int64_t outputs = c.size(W, 0), row = c.size(W, 1) * c.size(W, 2) * c.size(W, 3);
  const uint64_t* w = c.data<uint64_t>(W);
  uint64_t* to = reinterpret_cast<uint64_t*>(derived);
  for (int64_t first = 0; first < outputs; first += kInterleaved) {
    for (int64_t i = 0; i < row; ++i)
      for (int64_t o = first; o < first + kInterleaved; ++o) *to++ = o < outputs ? w[o * row + i] : 0;
  }
  for (int64_t at = 0; at < c.size(W, 3); ++at) {
    const int64_t bits = c.attribute(CHANNELS) - at * kWord;
    *to++ = bits >= kWord ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  }
}

}  // namespace binary_conv

namespace binary_conv_input_grad {

enum { G, W, GX };
enum { CHANNELS, STRIDE, PAD };

void check(Checker& c) {
  c.per_sample(G, kStored, 3);
  c.per_sample(GX, type_bit(BR_INT32) | type_bit(BR_INT64), 3);
  if (!c.ok()) return;
  c.require(c.attribute(CHANNELS) == c.size(GX, 2), "the gradient does not fit the channels");
  check_geometry(c, W, c.size(GX, 2), GX, G);
}

BinaryConvInputGradArgs arguments(const Call& c) {
  BinaryConvInputGradArgs a = {};
  a.samples = c.samples();
  a.height = c.size(GX, 0);
  a.width = c.size(GX, 1);
  a.words = c.size(W, 3);
  a.channels = c.attribute(CHANNELS);
  a.outputs = c.size(W, 0);
  a.kernel = c.size(W, 1);
  a.out_h = c.size(G, 0);
  a.out_w = c.size(G, 1);
  a.stride = c.attribute(STRIDE);
  a.pad = c.attribute(PAD);
  a.g_type = c.type(G);
  a.gx_type = c.type(GX);
  return a;
}

uint64_t derived_bytes(const Call& c) { return c.kernels().binary_conv_input_grad.derived_bytes(arguments(c)); }

void derive(const Call& c, uint8_t* derived) {
  BinaryConvInputGradArgs a = arguments(c);
  a.w = c.data<uint64_t>(W);
  c.kernels().binary_conv_input_grad.derive(a, derived);
}

int run(const Call& c) {
  BinaryConvInputGradArgs a = arguments(c);
  a.g = c.bytes(G);
  a.derived = c.derived();
  a.gx = c.bytes(GX);
  c.kernels().binary_conv_input_grad.run(a);
  return BR_OK;
}

}  // namespace binary_conv_input_grad

extern const Operation kBinaryConv = {.name = "binary_conv", .code = 12, .reads = "x w", .writes = "sums",
    .attributes = "channels stride pad padding", .check = binary_conv::check, .run = binary_conv::run,
    .weights = binary_conv::W, .derived_bytes = binary_conv::derived_bytes, .derive = binary_conv::interleave_outputs};
extern const Operation kBinaryConvInputGrad = {.name = "binary_conv_input_grad", .code = 13, .reads = "g w",
    .writes = "gx", .attributes = "channels stride pad", .check = binary_conv_input_grad::check,
    .run = binary_conv_input_grad::run, .weights = binary_conv_input_grad::W,
    .derived_bytes = binary_conv_input_grad::derived_bytes, .derive = binary_conv_input_grad::derive};

}  // namespace bitreplay
