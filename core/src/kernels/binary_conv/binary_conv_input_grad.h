// binary_conv_input_grad: gx[p, i] = sum over taps t and outputs o of g[p - t, o] w[o, t, i], w = +-1; taps outside the
// map are skipped.
//
// In     g: samples * out_h * out_w rows of `outputs` int8, int16 or int32.
//        packed_weights: what the same table's `pack_weights` made of the weights w (outputs, kernel, kernel, words):
//           for each tap and input channel the bits over outputs, in an order that each instruction set chooses.
//           64-byte aligned.
// Out    gx: samples * height * width rows of `channels` int32 or int64, sums modulo 2^32 or 2^64.
// Way    the sums of all subsets of a few gradients stand in a table, looked up by as many weight bits.
// Bound  kernel^2 * outputs < 2^31.
// Reads and writes nothing outside; nothing overlaps.
#pragma once
#include <cstdint>

namespace bitreplay {

struct BinaryConvInputGradArgs {
  int64_t samples, height, width, words, channels;
  int64_t outputs, kernel, out_h, out_w;
  int64_t stride, pad;
  const void* g;
  int g_type;
  const uint64_t* w;
  const uint8_t* packed_weights;
  void* gx;
  int gx_type;
};

// packed_weights_bytes reads sizes and types only; pack_weights also reads `w`; run reads everything but `w`.
struct BinaryConvInputGrad {
  uint64_t (*packed_weights_bytes)(const BinaryConvInputGradArgs&);
  void (*pack_weights)(const BinaryConvInputGradArgs&, uint8_t* packed_weights);
  void (*run)(const BinaryConvInputGradArgs&);
};
extern const BinaryConvInputGrad kBinaryConvInputGradScalar, kBinaryConvInputGradAvx2, kBinaryConvInputGradAvx512,
    kBinaryConvInputGradNeon, kBinaryConvInputGradWasm;

}  // namespace bitreplay
