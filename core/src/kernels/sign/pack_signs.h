// pack_signs: bit = 1 where x >= zero.
//
// In     x: rows * channels elements of int8, int16 or int32, row after row, no gaps, aligned to the element.
// Out    bits: rows * words_for(channels) words, least significant bit first; the bits behind the last channel are 0.
// Reads and writes nothing outside; x and bits do not overlap.
#pragma once
#include <cstdint>

namespace bitreplay {

struct PackSignsArgs {
  int64_t rows, channels;
  const void* x;
  int x_type;
  int64_t zero;
  uint64_t* bits;
};

using PackSigns = void(const PackSignsArgs&);
PackSigns pack_signs_scalar, pack_signs_avx2, pack_signs_avx512, pack_signs_neon, pack_signs_wasm;

}  // namespace bitreplay
