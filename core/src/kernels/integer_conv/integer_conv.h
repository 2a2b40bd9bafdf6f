// integer_conv: sums[p, o] = round(sum over taps inside the map and channels of (x - x_zero) w / 2^down).
//
// In     x: samples * height * width rows of `channels` int8, int16 or int32; w: (outputs, kernel, kernel, channels) of
//        int8, int16 or int32; packed_weights: what the same table's `pack_weights` made of w, 64-byte aligned.
// Out    sums: samples * out_h * out_w rows of `outputs` int32.
// Bound  sums before rounding wrap modulo 2^64; for compiled programs |sum / 2^down| < 2^31.
// Reads and writes nothing outside; nothing overlaps.
#pragma once
#include <cstdint>

#include "kernels/affine/affine.h"

namespace bitreplay {

struct IntegerConvArgs {
  int64_t samples, height, width, channels;
  int64_t outputs, kernel, out_h, out_w;
  int64_t x_zero, stride, pad, down;
  const void* x;
  int x_type;
  const void* w;
  int w_type;
  const uint8_t* packed_weights;
  int32_t* sums;
};

// packed_weights_bytes reads sizes, types and attributes only; pack_weights also reads `w`.
struct IntegerConv {
  uint64_t (*packed_weights_bytes)(const IntegerConvArgs&);
  void (*pack_weights)(const IntegerConvArgs&, uint8_t* packed_weights);
  void (*run)(const IntegerConvArgs&);
  // What `affine` makes of the sums, in its y and its count; `sums` and its x are not touched. Tells whether it did the
  // work; where it did not, it changed nothing. Null: it never does.
  // `prepared`: what the same table's `prepare_affine` made, 64-byte aligned, or null.
  bool (*run_affine)(const IntegerConvArgs&, const AffineArgs& affine, const uint8_t* prepared) = nullptr;
  // What can be made once of an affine whose a and b are constant; reads these, sizes, types and attributes only.
  uint64_t (*prepared_bytes)(const IntegerConvArgs&, const AffineArgs& affine) = nullptr;
  void (*prepare_affine)(const IntegerConvArgs&, const AffineArgs& affine, uint8_t* prepared) = nullptr;
};
extern const IntegerConv kIntegerConvScalar, kIntegerConvAvx2, kIntegerConvAvxvnni, kIntegerConvAvx512,
    kIntegerConvNeon, kIntegerConvDotprod, kIntegerConvWasm;
void integer_conv_scalar(const IntegerConvArgs&);
// Always does the work.
bool integer_conv_scalar_affine(const IntegerConvArgs&, const AffineArgs& affine, const uint8_t* prepared = nullptr);

}  // namespace bitreplay
