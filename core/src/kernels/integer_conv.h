// integer_conv: sums[p, o] = round(sum over taps inside the map and channels of (x - x_zero) w / 2^down).
//
// In     x: samples * height * width rows of `channels` int8, int16 or int32; w: (outputs, kernel, kernel, channels) of
//        int8, int16 or int32.
// Out    sums: samples * out_h * out_w rows of `outputs` int32.
// Bound  sums before rounding wrap modulo 2^64; for compiled programs |sum / 2^down| < 2^31.
// Reads and writes nothing outside; nothing overlaps.
#pragma once
#include <cstdint>

namespace bitreplay {

struct IntegerConvArgs {
  int64_t samples, height, width, channels;
  int64_t outputs, kernel, out_h, out_w;
  int64_t x_zero, stride, pad, down;
  const void* x;
  int x_type;
  const void* w;
  int w_type;
  int32_t* sums;
};

using IntegerConv = void(const IntegerConvArgs&);
IntegerConv integer_conv_scalar, integer_conv_avx2, integer_conv_avx512, integer_conv_neon;

}  // namespace bitreplay
