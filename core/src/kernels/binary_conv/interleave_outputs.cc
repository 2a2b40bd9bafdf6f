// The weights of eight outputs side by side, word by word (binary_conv.h).
#include "arithmetic/packing.h"
#include "kernels/binary_conv/binary_conv.h"

namespace bitreplay {

uint64_t interleaved_bytes(const BinaryConvArgs& a) {
  const int64_t outputs = (a.outputs + kInterleaved - 1) / kInterleaved * kInterleaved;
  return uint64_t(8 * (outputs * a.kernel * a.kernel + 1) * a.words);
}

uint64_t* interleave_weights(const BinaryConvArgs& a, uint8_t* packed_weights) {
  const int64_t row = a.kernel * a.kernel * a.words;
  uint64_t* to = reinterpret_cast<uint64_t*>(packed_weights);
  for (int64_t first = 0; first < a.outputs; first += kInterleaved) {
    for (int64_t i = 0; i < row; ++i)
      for (int64_t o = first; o < first + kInterleaved; ++o) *to++ = o < a.outputs ? a.w[o * row + i] : 0;
  }
  return to;
}

void interleave_outputs(const BinaryConvArgs& a, uint8_t* packed_weights) {
  uint64_t* to = interleave_weights(a, packed_weights);
  for (int64_t at = 0; at < a.words; ++at) {
    const int64_t bits = a.channels - at * kWord;
    *to++ = bits >= kWord ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  }
}

}  // namespace bitreplay
