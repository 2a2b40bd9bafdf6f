#include "kernels/sign/pack_signs.h"

#include "arithmetic/packing.h"
#include "bitreplay.h"

namespace bitreplay {

template <class T>
static void pack(const PackSignsArgs& a) {
  const T* x = static_cast<const T*>(a.x);
  uint64_t* bits = a.bits;
  for (int64_t row = 0; row < a.rows; ++row, x += a.channels) {
    for (int64_t at = 0; at < a.channels; at += kWord) {
      uint64_t word = 0;
      int64_t count = a.channels - at < kWord ? a.channels - at : kWord;
      for (int64_t i = 0; i < count; ++i) word |= uint64_t(x[at + i] >= a.zero) << i;
      *bits++ = word;
    }
  }
}

void pack_signs_scalar(const PackSignsArgs& a) {
  if (a.x_type == BR_INT8) return pack<int8_t>(a);
  if (a.x_type == BR_INT16) return pack<int16_t>(a);
  return pack<int32_t>(a);
}

}  // namespace bitreplay
