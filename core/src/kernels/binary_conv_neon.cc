// Eight outputs as four vectors of two words: eor with the pixel's word, cnt, bytes added up before they overflow.
#include <arm_neon.h>

#include "kernels/binary_conv_pixels.h"

namespace bitreplay {
namespace {

constexpr int64_t kWordsBeforeSum = 31;  // 31 * 8 < 256
constexpr int kVectors = 4;

struct Counts {
  uint64x2_t sums[kVectors] = {vdupq_n_u64(0), vdupq_n_u64(0), vdupq_n_u64(0), vdupq_n_u64(0)};

  void run(const uint64_t* x, const uint64_t* w, int64_t length) {
    for (int64_t start = 0; start < length; start += kWordsBeforeSum) {
      const int64_t end = length - start < kWordsBeforeSum ? length : start + kWordsBeforeSum;
      uint8x16_t bytes[kVectors] = {vdupq_n_u8(0), vdupq_n_u8(0), vdupq_n_u8(0), vdupq_n_u8(0)};
      for (int64_t i = start; i < end; ++i) {
        const uint64x2_t pixel = vdupq_n_u64(x[i]);
        for (int v = 0; v < kVectors; ++v) {
          const uint64x2_t different = veorq_u64(pixel, vld1q_u64(w + kInterleaved * i + 2 * v));
          bytes[v] = vaddq_u8(bytes[v], vcntq_u8(vreinterpretq_u8_u64(different)));
        }
      }
      for (int v = 0; v < kVectors; ++v) sums[v] = vpadalq_u32(sums[v], vpaddlq_u16(vpaddlq_u8(bytes[v])));
    }
  }

  void store(int64_t* found) const {
    for (int v = 0; v < kVectors; ++v) vst1q_s64(found + 2 * v, vreinterpretq_s64_u64(sums[v]));
  }
};

}  // namespace

void binary_conv_neon(const BinaryConvArgs& a) { binary_conv_by_pixel<Counts>(a); }

}  // namespace bitreplay
