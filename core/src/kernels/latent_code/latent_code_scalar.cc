#include "arithmetic/elements.h"
#include "arithmetic/fixedpoint.h"
#include "arithmetic/packing.h"
#include "kernels/latent_code/latent_code.h"

namespace bitreplay {

void encode_latents_scalar(const EncodeLatentsArgs& a) {
  const int64_t words = words_for(a.channels), count = (int64_t(1) << a.bits) - 1;
  int64_t x[kWord];
  for (int64_t row = 0; row < a.rows; ++row) {
    uint64_t* code = a.code + row * a.bits * words;
    for (int64_t word = 0; word < words; ++word) {
      const int64_t first = word * kWord, lanes = min_of(kWord, a.channels - first);
      widen(a.x_type, a.x, row * a.channels + first, lanes, x);
      uint64_t planes[32] = {};
      for (int64_t i = 0; i < lanes; ++i) {
        int64_t index = 0;
        if (a.thresholds) {
          for (int64_t t = 0; t < count; ++t) index += x[i] >= a.thresholds[(first + i) * count + t];
        } else {
          index = sub(x[i], a.low) >> a.cut;
        }
        for (int64_t plane = 0; plane < a.bits; ++plane) planes[plane] |= uint64_t((index >> plane) & 1) << i;
      }
      for (int64_t plane = 0; plane < a.bits; ++plane) code[plane * words + word] = planes[plane];
    }
  }
}

void decode_latents_scalar(const DecodeLatentsArgs& a) {
  const int64_t words = words_for(a.channels), half = (int64_t(1) << a.cut) >> 1;
  int64_t x[kWord];
  for (int64_t row = 0; row < a.rows; ++row) {
    const uint64_t* code = a.code + row * a.bits * words;
    for (int64_t word = 0; word < words; ++word) {
      const int64_t first = word * kWord, lanes = min_of(kWord, a.channels - first);
      for (int64_t i = 0; i < lanes; ++i) {
        int64_t index = 0;
        for (int64_t plane = 0; plane < a.bits; ++plane)
          index |= int64_t((code[plane * words + word] >> i) & 1) << plane;
        x[i] = a.values ? a.values[((first + i) << a.bits) + index] : add(add(a.low, left(index, a.cut)), half);
      }
      narrow(a.x_type, x, lanes, a.x, row * a.channels + first);
    }
  }
}

}  // namespace bitreplay
