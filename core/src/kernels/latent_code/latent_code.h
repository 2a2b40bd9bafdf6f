// The code of a replay level: `bits` planes of packed bits per row.
//
// encode: index = number of thresholds[channel] with x >= threshold, or (x - low) >> cut without a table;
//         plane j holds bit j of the index of each channel.
// decode: x = values[channel, index], or low + (index << cut) + half of 2^cut without a table.
//
// x          rows * channels elements of int8, int16 or int32.
// code       rows * bits * words_for(channels) words, plane after plane; bits behind the last channel are 0.
// thresholds channels * (2^bits - 1) int32; values: channels * 2^bits int32; each may be null. With a table bits <= 8.
// Reads and writes nothing outside; nothing overlaps.
#pragma once
#include <cstdint>

namespace bitreplay {

struct EncodeLatentsArgs {
  int64_t rows, channels, bits, low, cut;
  const void* x;
  int x_type;
  const int32_t* thresholds;
  uint64_t* code;
};

struct DecodeLatentsArgs {
  int64_t rows, channels, bits, low, cut;
  const uint64_t* code;
  const int32_t* values;
  void* x;
  int x_type;
};

using EncodeLatents = void(const EncodeLatentsArgs&);
using DecodeLatents = void(const DecodeLatentsArgs&);
EncodeLatents encode_latents_scalar, encode_latents_avx2, encode_latents_avx512, encode_latents_neon,
    encode_latents_wasm;
DecodeLatents decode_latents_scalar, decode_latents_avx2, decode_latents_avx512, decode_latents_neon,
    decode_latents_wasm;

}  // namespace bitreplay
