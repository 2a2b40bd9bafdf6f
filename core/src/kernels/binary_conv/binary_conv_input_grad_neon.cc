// Tables of 16 bytes looked up by tbl, 32 channels at a time (nibble_tables.h).
#include <arm_neon.h>

#include "kernels/binary_conv/nibble_tables.h"

namespace bitreplay {
namespace {

// Sums of 16 bits: 64 blocks of at most 4 * 63 fit. A table is read once for 32 channels.
template <int kCount>
struct LookUp {
  static inline void run(const uint8_t* tables, const uint8_t* weights, int64_t blocks, uint32_t correction,
                         uint32_t* to) {
    uint16x8_t sums[kCount][4];
    for (int d = 0; d < kCount; ++d)
      for (int k = 0; k < 4; ++k) sums[d][k] = vdupq_n_u16(0);
    for (int64_t block = 0; block < blocks; ++block, weights += kNibbleBlockBytes, tables += 4 * kCount * 16) {
      const uint8x16x4_t bits = vld1q_u8_x4(weights);
      uint8x16_t nibbles[2][4];
      for (int half = 0; half < 2; ++half) {  // 16 channels
        const uint8x16_t first = bits.val[half], second = bits.val[2 + half];
        nibbles[half][0] = vandq_u8(first, vdupq_n_u8(15));
        nibbles[half][1] = vshrq_n_u8(first, 4);
        nibbles[half][2] = vandq_u8(second, vdupq_n_u8(15));
        nibbles[half][3] = vshrq_n_u8(second, 4);
      }
      for (int d = 0; d < kCount; ++d) {
        const uint8x16x4_t four = vld1q_u8_x4(tables + 64 * d);
        uint8x16_t front = vqtbl1q_u8(four.val[0], nibbles[0][0]), back = vqtbl1q_u8(four.val[0], nibbles[1][0]);
        for (int n = 1; n < 4; ++n) {
          front = vaddq_u8(front, vqtbl1q_u8(four.val[n], nibbles[0][n]));
          back = vaddq_u8(back, vqtbl1q_u8(four.val[n], nibbles[1][n]));
        }
        sums[d][0] = vaddw_u8(sums[d][0], vget_low_u8(front));
        sums[d][1] = vaddw_high_u8(sums[d][1], front);
        sums[d][2] = vaddw_u8(sums[d][2], vget_low_u8(back));
        sums[d][3] = vaddw_high_u8(sums[d][3], back);
        asm("" ::: "memory");  // the next tables not before: four registers of them are all there is room for
      }
    }
    for (int k = 0; k < 4; ++k) {
      uint32x4_t low = vdupq_n_u32(0), high = low;
      for (int d = kCount - 1; d >= 0; --d) {
        low = vaddw_u16(vshlq_n_u32(low, 6), vget_low_u16(sums[d][k]));
        high = vaddw_high_u16(vshlq_n_u32(high, 6), sums[d][k]);
      }
      const uint32x4_t all = vdupq_n_u32(correction);
      vst1q_u32(to + 8 * k, vaddq_u32(vld1q_u32(to + 8 * k), vsubq_u32(vshlq_n_u32(low, 1), all)));
      vst1q_u32(to + 8 * k + 4, vaddq_u32(vld1q_u32(to + 8 * k + 4), vsubq_u32(vshlq_n_u32(high, 1), all)));
    }
  }
};

// Entries 0 and 1 are known; each further gradient doubles them. Digits of 16 sums are packed to bytes.
template <int kCount>
struct Build {
  static inline void run(const int16_t* g, int64_t nibbles, int32_t bias, uint8_t* tables) {
    for (int64_t nibble = 0; nibble < nibbles; ++nibble, g += 4) {
      uint8_t* to = tables + nibble_table<kCount>(nibble);
      const int32_t start[4] = {bias, bias + g[0], bias + g[1], bias + g[0] + g[1]};
      int32x4_t sums[4];
      sums[0] = vld1q_s32(start);
      sums[1] = vaddq_s32(sums[0], vdupq_n_s32(g[2]));
      sums[2] = vaddq_s32(sums[0], vdupq_n_s32(g[3]));
      sums[3] = vaddq_s32(sums[1], vdupq_n_s32(g[3]));
      const auto words = [](int32x4_t x) { return vreinterpretq_u16_s32(x); };
      const uint16x8_t lower[2] = {vuzp1q_u16(words(sums[0]), words(sums[1])), vuzp1q_u16(words(sums[2]), words(sums[3]))};
      const uint8x16_t digit = vdupq_n_u8(63);
      vst1q_u8(to, vandq_u8(vuzp1q_u8(vreinterpretq_u8_u16(lower[0]), vreinterpretq_u8_u16(lower[1])), digit));
      const uint8x16_t second = vcombine_u8(vshrn_n_u16(lower[0], 6), vshrn_n_u16(lower[1], 6));
      vst1q_u8(to + 64, vandq_u8(second, digit));
      if (kCount < 3) continue;
      int8x8_t third[2];
      for (int k = 0; k < 2; ++k)
        third[k] = vmovn_s16(vcombine_s16(vshrn_n_s32(sums[2 * k], 12), vshrn_n_s32(sums[2 * k + 1], 12)));
      const uint8x16_t last = vreinterpretq_u8_s8(vcombine_s8(third[0], third[1]));
      vst1q_u8(to + 64 * (kCount - 1), vandq_u8(last, digit));
    }
  }
};

}  // namespace

extern const BinaryConvInputGrad kBinaryConvInputGradNeon = Nibbles<LookUp, Build>::kKernel;

}  // namespace bitreplay
