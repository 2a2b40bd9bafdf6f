// integer_conv_input_grad: gx[n, p, i] = sum over the outputs q that read pixel p through tap t, and o, of
// g'[n, q, o] w[o, t, i], then quantised with an exponent of the sample's own (quant.h).
//
// In     g: samples * out_h * out_w rows of `outputs` int8, int16 or int32; e: one exponent a sample.
//        w: (outputs, kernel, kernel, channels) of int8, int16 or int32.
//        packed_weights: what the same table's `pack_weights` made of w, 64-byte aligned.
//        exponents: one for each output, or null. With them g' = round(g 2^room / 2^(largest of them - its own)),
//        else g' = g.
// Out    gx: samples * height * width rows of `channels` int8, int16 or int32 of `bits` bits; ex: e + shift + what they
//        were quantised by.
// Bound  sums wrap modulo 2^64.
// Reads and writes nothing outside; nothing overlaps.
#pragma once
#include <cstdint>

namespace bitreplay {

struct IntegerConvInputGradArgs {
  int64_t samples, height, width, channels;
  int64_t outputs, kernel, out_h, out_w;
  int64_t stride, pad, room, shift, bits;
  const void* g;
  int g_type;
  const int32_t* e;
  const void* w;
  int w_type;
  const int32_t* exponents;
  bool has_exponents;  // known without content
  const uint8_t* packed_weights;
  void* gx;
  int gx_type;
  int32_t* ex;
};

// packed_weights_bytes reads sizes, types and attributes only; pack_weights also reads `w`.
struct IntegerConvInputGrad {
  uint64_t (*packed_weights_bytes)(const IntegerConvInputGradArgs&);
  void (*pack_weights)(const IntegerConvInputGradArgs&, uint8_t* packed_weights);
  void (*run)(const IntegerConvInputGradArgs&);
};
extern const IntegerConvInputGrad kIntegerConvInputGradScalar, kIntegerConvInputGradAvx2, kIntegerConvInputGradAvx512,
    kIntegerConvInputGradNeon, kIntegerConvInputGradWasm;
void integer_conv_input_grad_scalar(const IntegerConvInputGradArgs&);

}  // namespace bitreplay
