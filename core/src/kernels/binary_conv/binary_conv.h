// binary_conv: sums[p, o] = K - 2 popcount(x xor w) over the taps inside the map (padding 0), or over all taps with +1
// read outside (padding 1); K = channels * those taps.
//
// In     x: samples * height * width rows of `words` words.
//        w: what the same table's `pack_weights` made of the weights (outputs, kernel, kernel, words), 64-byte aligned.
//           Most take interleave_outputs: [outputs / 8][kernel * kernel][words][8], outputs behind the last are 0; then
//           `words` words of +1 (the channels' bits set), which stand for a pixel outside the map.
//           AVX-512 and AVX2 have what such a pixel adds instead (outside_taps.h).
//           binary_conv_in_place reads the weights themselves, 8-byte aligned; NEON and WebAssembly have another order
//           (binary_conv_prefixes.h).
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

// packed_weights_bytes reads sizes only; pack_weights reads the weights themselves as `w`. Where both are null, so does
// run.
struct BinaryConv {
  void (*run)(const BinaryConvArgs&);
  uint64_t (*packed_weights_bytes)(const BinaryConvArgs&);
  void (*pack_weights)(const BinaryConvArgs&, uint8_t* packed_weights);
};

uint64_t interleaved_bytes(const BinaryConvArgs& a);
void interleave_outputs(const BinaryConvArgs& a, uint8_t* packed_weights);
uint64_t* interleave_weights(const BinaryConvArgs& a, uint8_t* packed_weights);  // without the last; where it ends

using BinaryConvRun = void(const BinaryConvArgs&);
BinaryConvRun binary_conv_scalar, binary_conv_runs_neon, binary_conv_in_place;
extern const BinaryConv kBinaryConvAvx2, kBinaryConvAvx512, kBinaryConvNeon, kBinaryConvWasm;

}  // namespace bitreplay
