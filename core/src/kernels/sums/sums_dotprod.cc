// Products of pictures by sdot (ARMv8.2): features of four images are bytes side by side. All else is NEON's.
#include <arm_neon.h>

#include "kernels/sums/sums.h"

namespace bitreplay {
namespace {

#define INLINE __attribute__((always_inline))

// Features are at most 127 in size: the lower bytes are all of them. Eight of two pictures and eight of two others
// become 16 of which neighbours are four pictures' number j; `low` has the first four j, `high` the others.
struct Quads {
  int8x16_t low, high;

  INLINE Quads(int16x8_t a, int16x8_t b, int16x8_t c, int16x8_t d) {
    const auto bytes = [](int16x8_t x, int16x8_t y) {
      return vreinterpretq_s16_s8(vuzp1q_s8(vreinterpretq_s8_s16(x), vreinterpretq_s8_s16(y)));
    };
    const int16x8_t ones = bytes(a, b), others = bytes(c, d);
    low = vreinterpretq_s8_s16(vzip1q_s16(ones, others));
    high = vreinterpretq_s8_s16(vzip2q_s16(ones, others));
  }
};

// Products with 16 features of one row. Fields, not arrays, which compilers would keep in memory.
struct Row {
  int32x4_t a = vdupq_n_s32(0), b = a, c = a, d = a;

  template <int kRow>
  INLINE void add(const Quads& left, const Quads& right, int8x16_t ones) {
    a = vdotq_laneq_s32(a, left.low, ones, kRow);
    b = vdotq_laneq_s32(b, left.high, ones, kRow);
    c = vdotq_laneq_s32(c, right.low, ones, kRow);
    d = vdotq_laneq_s32(d, right.high, ones, kRow);
  }
  INLINE void store(int32_t* to) const {
    vst1q_s32(to, a);
    vst1q_s32(to + 4, b);
    vst1q_s32(to + 8, c);
    vst1q_s32(to + 12, d);
  }
};

}  // namespace

void pair_products_dotprod(const int16_t* pairs, int64_t count, int64_t stride, int64_t row, int64_t columns,
                           int32_t* out) {
  for (int64_t start = 0; start < columns; start += kPairColumns) {
    Row first, second, third, fourth;
    const auto add = [&](const int16x8_t* x, int16x8_t one, const int16x8_t* y, int16x8_t other) INLINE {
      const Quads left(x[0], x[1], y[0], y[1]), right(x[2], x[3], y[2], y[3]), rows(one, one, other, other);
      first.add<0>(left, right, rows.low);
      second.add<1>(left, right, rows.low);
      third.add<2>(left, right, rows.low);
      fourth.add<3>(left, right, rows.low);
    };
    int64_t k = 0;
    for (; k + 2 <= count; k += 2) {
      const int16_t *x = pairs + 2 * k * stride, *y = x + 2 * stride;
      const int16x8x4_t a = vld1q_s16_x4(x + 2 * start), b = vld1q_s16_x4(y + 2 * start);
      add(a.val, vld1q_s16(x + 2 * row), b.val, vld1q_s16(y + 2 * row));
    }
    if (k < count) {
      const int16_t* x = pairs + 2 * k * stride;
      const int16x8x4_t a = vld1q_s16_x4(x + 2 * start);
      const int16x8_t none[4] = {};
      add(a.val, vld1q_s16(x + 2 * row), none, none[0]);
    }
    first.store(out + start);
    second.store(out + stride + start);
    third.store(out + 2 * stride + start);
    fourth.store(out + 3 * stride + start);
  }
}

}  // namespace bitreplay
