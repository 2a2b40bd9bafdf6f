// depthwise_conv of bytes: sums[p, c] = sum over taps inside the map of (x - x_zero) w, or what `affine` makes of them.
//
// In     x: samples * height * width rows of `channels` int8; w: (channels, kernel, kernel) of int8; x_zero is a byte;
//        packed_weights: what the same table's `pack_weights` made of w, 64-byte aligned.
// Out    sums: samples * out_h * out_w rows of `channels` int32; or, where `affine` is given, its y and its count, and
//        the sums are written nowhere: its x is not read.
// Bound  kernel * kernel * 2^16 < 2^31.
// Reads and writes nothing outside; nothing overlaps. `run` tells whether it did the work; where it did not, it changed
// nothing.
#pragma once
#include <cstdint>

#include "kernels/affine/affine.h"

namespace bitreplay {

struct DepthwiseConvArgs {
  int64_t samples, height, width, channels;
  int64_t kernel, out_h, out_w;
  int64_t x_zero, stride, pad;
  const int8_t* x;
  const int8_t* w;
  const uint8_t* packed_weights;
  int32_t* sums;
  const AffineArgs* affine;
  const uint8_t* prepared = nullptr;  // what `prepare_affine` made, 64-byte aligned
};

// packed_weights_bytes (0: it packs none) reads sizes and attributes only; pack_weights also reads `w`.
struct DepthwiseConv {
  uint64_t (*packed_weights_bytes)(const DepthwiseConvArgs&);
  void (*pack_weights)(const DepthwiseConvArgs&, uint8_t* packed_weights);
  bool (*run)(const DepthwiseConvArgs&);
  // What can be made once of an affine whose a and b are constant; reads these, sizes, types and attributes only.
  uint64_t (*prepared_bytes)(const DepthwiseConvArgs&) = nullptr;
  void (*prepare_affine)(const DepthwiseConvArgs&, uint8_t* prepared) = nullptr;
};
extern const DepthwiseConv kDepthwiseConvScalar, kDepthwiseConvAvx2, kDepthwiseConvAvx512, kDepthwiseConvNeon,
    kDepthwiseConvDotprod;

}  // namespace bitreplay
