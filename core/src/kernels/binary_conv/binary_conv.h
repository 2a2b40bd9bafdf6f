// binary_conv: sums[p, o] = K - 2 popcount(x xor w) over the taps inside the map (padding 0), or over all taps with +1
// read outside (padding 1); K = channels * those taps.
//
// In     x: samples * height * width rows of `words` words.
//        w: the weights (outputs, kernel, kernel, words) rearranged by interleave_outputs, 64-byte aligned:
//           [outputs / 8][kernel * kernel][words][8], outputs behind the last are 0; then `words` words of +1
//           (the channels' bits set), which stand for a pixel outside the map. binary_conv_in_place reads the weights
//           themselves, 8-byte aligned.
// Out    sums: samples * out_h * out_w rows of `outputs` int16.
// Bound  kernel^2 * channels < 2^15, so that every sum fits int16 and every count 16 bits.
// Reads and writes nothing outside; nothing overlaps.
#pragma once
#include <cstdint>

namespace bitreplay {

struct BinaryConvArgs {
  int64_t samples, height, width, words, channels;
  int64_t outputs, kernel, out_h, out_w;
  int64_t stride, pad, padding;
  const uint64_t* x;
  const uint64_t* w;
  int16_t* sums;
};

constexpr int64_t kInterleaved = 8;

using BinaryConv = void(const BinaryConvArgs&);
BinaryConv binary_conv_scalar, binary_conv_avx2, binary_conv_avx512, binary_conv_neon, binary_conv_wasm,
    binary_conv_in_place;

}  // namespace bitreplay
