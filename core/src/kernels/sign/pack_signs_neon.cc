// x >= zero as a mask of bytes; each byte keeps the bit of its place, and three pairwise additions gather 64 bytes into
// eight. Wider elements are narrowed to bytes first.
#include <arm_neon.h>

#include "bitreplay.h"
#include "kernels/sign/pack_signs.h"

namespace bitreplay {
namespace {

// 16 bytes, all bits set where x >= zero.
inline uint8x16_t at_least(const int8_t* x, int64_t zero) { return vcgeq_s8(vld1q_s8(x), vdupq_n_s8(int8_t(zero))); }

inline uint8x16_t at_least(const int16_t* x, int64_t zero) {
  const int16x8_t limit = vdupq_n_s16(int16_t(zero));
  const uint16x8_t a = vcgeq_s16(vld1q_s16(x), limit), b = vcgeq_s16(vld1q_s16(x + 8), limit);
  return vuzp1q_u8(vreinterpretq_u8_u16(a), vreinterpretq_u8_u16(b));
}

inline uint8x16_t at_least(const int32_t* x, int64_t zero) {
  const int32x4_t limit = vdupq_n_s32(int32_t(zero));
  uint16x8_t half[2];
  for (int k = 0; k < 2; ++k) {
    const uint32x4_t a = vcgeq_s32(vld1q_s32(x + 8 * k), limit), b = vcgeq_s32(vld1q_s32(x + 8 * k + 4), limit);
    half[k] = vuzp1q_u16(vreinterpretq_u16_u32(a), vreinterpretq_u16_u32(b));
  }
  return vuzp1q_u8(vreinterpretq_u8_u16(half[0]), vreinterpretq_u8_u16(half[1]));
}

template <class T>
void pack(const PackSignsArgs& a) {
  static const uint8_t kBits[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const uint8x16_t places = vld1q_u8(kBits);
  const T* x = static_cast<const T*>(a.x);
  uint64_t* bits = a.bits;
  for (int64_t row = 0; row < a.rows; ++row, x += a.channels) {
    int64_t at = 0;
    for (; at + 64 <= a.channels; at += 64) {
      uint8x16_t part[4];
      for (int k = 0; k < 4; ++k) part[k] = vandq_u8(at_least(x + at + 16 * k, a.zero), places);
      const uint8x16_t eighths = vpaddq_u8(vpaddq_u8(part[0], part[1]), vpaddq_u8(part[2], part[3]));
      *bits++ = vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(eighths, eighths)), 0);
    }
    if (at == a.channels) continue;
    uint64_t word = 0;
    for (int64_t i = at; i < a.channels; ++i) word |= uint64_t(x[i] >= a.zero) << (i - at);
    *bits++ = word;
  }
}

}  // namespace

void pack_signs_neon(const PackSignsArgs& a) {
  if (a.x_type == BR_INT8 && a.zero == int8_t(a.zero)) return pack<int8_t>(a);
  if (a.x_type == BR_INT16 && a.zero == int16_t(a.zero)) return pack<int16_t>(a);
  if (a.x_type == BR_INT32 && a.zero == int32_t(a.zero)) return pack<int32_t>(a);
  pack_signs_scalar(a);
}

}  // namespace bitreplay
