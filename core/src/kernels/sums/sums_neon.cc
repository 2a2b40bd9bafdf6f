// Products of 32 bits by smlal, two lanes at a time; products of pictures by smlal of int16, both pictures of a pair.
#include <arm_neon.h>

#include "kernels/sums/sums.h"

namespace bitreplay {
namespace {

void pair_products(const int16_t* pairs, int64_t count, int64_t stride, int64_t row, int64_t columns, int32_t* out) {
  for (int64_t start = 0; start < columns; start += 8) {
    int32x4_t sums[4][2];
    for (int r = 0; r < 4; ++r) sums[r][0] = sums[r][1] = vdupq_n_s32(0);
    for (int64_t k = 0; k < count; ++k) {
      const int16x8_t ones = vld1q_s16(pairs + 2 * (k * stride + row));  // four pairs
      const int16x8x2_t others = vld2q_s16(pairs + 2 * (k * stride + start));
      const auto add_row = [&](int32x4_t* sum, int16x4_t pair_first, int16x4_t pair_second) {
        sum[0] = vmlal_s16(sum[0], vget_low_s16(others.val[0]), pair_first);
        sum[1] = vmlal_s16(sum[1], vget_high_s16(others.val[0]), pair_first);
        sum[0] = vmlal_s16(sum[0], vget_low_s16(others.val[1]), pair_second);
        sum[1] = vmlal_s16(sum[1], vget_high_s16(others.val[1]), pair_second);
      };
      add_row(sums[0], vdup_laneq_s16(ones, 0), vdup_laneq_s16(ones, 1));
      add_row(sums[1], vdup_laneq_s16(ones, 2), vdup_laneq_s16(ones, 3));
      add_row(sums[2], vdup_laneq_s16(ones, 4), vdup_laneq_s16(ones, 5));
      add_row(sums[3], vdup_laneq_s16(ones, 6), vdup_laneq_s16(ones, 7));
    }
    for (int r = 0; r < 4; ++r)
      for (int h = 0; h < 2; ++h) vst1q_s32(out + r * stride + start + 4 * h, sums[r][h]);
  }
}

template <int kWidth>
void rows_by(const int32_t* const left[4], const int32_t* const right[4], int64_t count, int64_t out[16]) {
  int64x2_t sums[4][kWidth];
  for (int l = 0; l < 4; ++l)
    for (int r = 0; r < kWidth; ++r) sums[l][r] = vdupq_n_s64(0);
  int64_t k = 0;
  for (; k + 4 <= count; k += 4) {
    int32x4_t b[kWidth];
    for (int r = 0; r < kWidth; ++r) b[r] = vld1q_s32(right[r] + k);
    for (int l = 0; l < 4; ++l) {
      const int32x4_t a = vld1q_s32(left[l] + k);
      for (int r = 0; r < kWidth; ++r) {
        sums[l][r] = vmlal_s32(sums[l][r], vget_low_s32(a), vget_low_s32(b[r]));
        sums[l][r] = vmlal_high_s32(sums[l][r], a, b[r]);
      }
    }
  }
  for (int l = 0; l < 4; ++l)
    for (int r = 0; r < kWidth; ++r) {
      uint64_t sum = uint64_t(vaddvq_s64(sums[l][r]));
      for (int64_t rest = k; rest < count; ++rest) sum += uint64_t(int64_t(left[l][rest]) * right[r][rest]);
      out[4 * l + r] = int64_t(sum);
    }
}

void row_products(const int32_t* const left[4], const int32_t* const right[4], int64_t width, int64_t count,
                  int64_t out[16]) {
  if (width == 4) rows_by<4>(left, right, count, out);
  else rows_by<2>(left, right, count, out);
}

void take_away(const int32_t* const rows[4], int64_t count, const int32_t high[4], const int32_t low[4], int64_t* rest,
               int64_t* fine) {
  int64_t k = 0;
  for (; k + 2 <= count; k += 2) {
    int64x2_t less = vld1q_s64(rest + k), more = vld1q_s64(fine + k);
    for (int l = 0; l < 4; ++l) {
      const int32x2_t row = vld1_s32(rows[l] + k);
      less = vmlsl_n_s32(less, row, high[l]);
      more = vmlal_n_s32(more, row, low[l]);
    }
    vst1q_s64(rest + k, less);
    vst1q_s64(fine + k, more);
  }
  for (; k < count; ++k)
    for (int l = 0; l < 4; ++l) {
      rest[k] = int64_t(uint64_t(rest[k]) - uint64_t(int64_t(rows[l][k]) * high[l]));
      fine[k] = int64_t(uint64_t(fine[k]) + uint64_t(int64_t(rows[l][k]) * low[l]));
    }
}

int64_t score(const int32_t* weights, const int8_t* x, int64_t count) {
  int64x2_t sums = vdupq_n_s64(0);
  int64_t k = 0;
  for (; k + 8 <= count; k += 8) {
    const int16x8_t wide = vmovl_s8(vld1_s8(x + k));
    const int32x4_t first = vmovl_s16(vget_low_s16(wide)), second = vmovl_high_s16(wide);
    const int32x4_t a = vld1q_s32(weights + k), b = vld1q_s32(weights + k + 4);
    sums = vmlal_s32(sums, vget_low_s32(a), vget_low_s32(first));
    sums = vmlal_high_s32(sums, a, first);
    sums = vmlal_s32(sums, vget_low_s32(b), vget_low_s32(second));
    sums = vmlal_high_s32(sums, b, second);
  }
  int64_t sum = vaddvq_s64(sums);
  for (; k < count; ++k) sum += int64_t(weights[k]) * x[k];
  return sum;
}

}  // namespace

extern const SumsKernels kSumsNeon = {pair_products, row_products, take_away, score};

}  // namespace bitreplay
