// Tables of 16 bytes looked up by tbl, 32 channels at a time (nibble_tables.h).
#include <arm_neon.h>

#include "kernels/binary_conv/nibble_tables.h"

namespace bitreplay {
namespace {

// Sums of 16 bits: 64 blocks of at most 4 * 63 fit.
template <int kCount>
inline void look_up(const uint8_t* tables, const uint8_t* weights, int64_t blocks, uint32_t (*digits)[kNibbleChannels]) {
  uint16x8_t sums[kCount][4];
  for (int d = 0; d < kCount; ++d)
    for (int k = 0; k < 4; ++k) sums[d][k] = vdupq_n_u16(0);
  for (int64_t block = 0; block < blocks; ++block, weights += kNibbleBlockBytes, tables += 4 * kCount * 16) {
    for (int half = 0; half < 2; ++half) {  // 16 channels
      const uint8x16_t first = vld1q_u8(weights + 16 * half), second = vld1q_u8(weights + 32 + 16 * half);
      const uint8x16_t nibbles[4] = {vandq_u8(first, vdupq_n_u8(15)), vshrq_n_u8(first, 4),
                                     vandq_u8(second, vdupq_n_u8(15)), vshrq_n_u8(second, 4)};
      for (int d = 0; d < kCount; ++d) {
        uint8x16_t sum = vqtbl1q_u8(vld1q_u8(tables + 16 * d), nibbles[0]);
        for (int n = 1; n < 4; ++n) sum = vaddq_u8(sum, vqtbl1q_u8(vld1q_u8(tables + (n * kCount + d) * 16), nibbles[n]));
        sums[d][2 * half] = vaddw_u8(sums[d][2 * half], vget_low_u8(sum));
        sums[d][2 * half + 1] = vaddw_high_u8(sums[d][2 * half + 1], sum);
      }
    }
  }
  for (int d = 0; d < kCount; ++d) {
    for (int k = 0; k < 4; ++k) {
      vst1q_u32(digits[d] + 8 * k, vmovl_u16(vget_low_u16(sums[d][k])));
      vst1q_u32(digits[d] + 8 * k + 4, vmovl_high_u16(sums[d][k]));
    }
  }
}

uint64_t derived_bytes(const BinaryConvInputGradArgs& a) {
  return nibbles_serve(a) ? nibble_derived_bytes(a) : kBinaryConvInputGradScalar.derived_bytes(a);
}

void derive(const BinaryConvInputGradArgs& a, uint8_t* derived) {
  if (nibbles_serve(a)) return nibble_derive(a, derived);
  kBinaryConvInputGradScalar.derive(a, derived);
}

void run(const BinaryConvInputGradArgs& a) {
  if (!nibbles_serve(a)) return kBinaryConvInputGradScalar.run(a);
  if (a.g_type == BR_INT8) return nibble_run<int8_t>(a, look_up<2>);
  nibble_run<int16_t>(a, look_up<3>);
}

}  // namespace

extern const BinaryConvInputGrad kBinaryConvInputGradNeon = {derived_bytes, derive, run};

}  // namespace bitreplay
