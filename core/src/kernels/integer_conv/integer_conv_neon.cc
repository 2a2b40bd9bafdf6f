// smlal adds the products of one lane to a 32-bit sum: the two inputs of a pair have sums of their own (four outputs
// take two registers), which are added at the end.
#include <arm_neon.h>

#include "kernels/integer_conv/integer_conv_input_grad_pairs.h"

namespace bitreplay {
namespace {

struct Lanes {
  struct Vector {
    int32x4_t low, high;  // sums of outputs 0, 1 and 2, 3; weights and inputs use `low` alone, as 16-bit numbers
  };
  static constexpr int64_t kLanes = 4;
  static Vector zero() { return {vdupq_n_s32(0), vdupq_n_s32(0)}; }
  static Vector load(const int32_t* from) { return {vld1q_s32(from), vdupq_n_s32(0)}; }
  static void store(int32_t* to, Vector x) { vst1q_s32(to, vpaddq_s32(x.low, x.high)); }
  static Vector pair(const int16_t* from) {
    int32_t both;
    memcpy(&both, from, sizeof both);
    return {vdupq_n_s32(both), vdupq_n_s32(0)};
  }
  static Vector dot(Vector sums, Vector x, Vector w) {
    const int16x8_t a = vreinterpretq_s16_s32(x.low), b = vreinterpretq_s16_s32(w.low);
    return {vmlal_s16(sums.low, vget_low_s16(a), vget_low_s16(b)), vmlal_high_s16(sums.high, a, b)};
  }
};

}  // namespace

const IntegerConv kIntegerConvNeon = integer_conv_with<Lanes>();
const IntegerConvInputGrad kIntegerConvInputGradNeon = integer_conv_input_grad_with<Lanes>();

}  // namespace bitreplay
