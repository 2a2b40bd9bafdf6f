// affine on eight lanes at a time: products and sums in 64 bits, channel by channel down the rows. NEON multiplies no
// 64-bit lanes: where a zero or a bound does not fit 32 bits the scalar kernel does the work.
// The nest of loops is that of affine_avx512.cc; what stands inside is other instructions and other widths in each
// line.
//
// Zeros are taken from the offset once a channel: (x - zero) a + b = x a + (b - zero a), modulo 2^64 as every sum here.
#include "kernels/affine/affine.h"

#include "arithmetic/fixedpoint.h"
#include "kernels/affine/affine_bytes_neon.h"

namespace bitreplay {
namespace {

constexpr int64_t kHalf = int64_t(1) << 30;

// What follows the sum: y_zero is added, the result is brought to [low, high] and stored; `inside` counts in each lane,
// as negative numbers, those that lay there.
//
// In 32 bits: a sum that saturates lies outside, with y_zero too, since low, high and y_zero are below 2^30 in size.
template <class Y>
struct Ending {
  int32x4_t zero, low, high, inside = vdupq_n_s32(0);

  explicit Ending(const AffineArgs& a)
      : zero(vdupq_n_s32(int32_t(a.y_zero))), low(vdupq_n_s32(int32_t(a.low))), high(vdupq_n_s32(int32_t(a.high))) {}
  void operator()(Wide8 sums, Y* y) {
    Narrow8 sum = saturated_halves(sums);
    for (int k = 0; k < 2; ++k) {
      const int32x4_t value = vqaddq_s32(sum.v[k], zero);
      sum.v[k] = vminq_s32(vmaxq_s32(value, low), high);
      inside = vaddq_s32(inside, vreinterpretq_s32_u32(vceqq_s32(sum.v[k], value)));
    }
    store8(y, sum);
  }
  int64_t counted() const { return vaddlvq_s32(inside); }
};

// In 16 bits, for a range that ends within them.
template <class Y>
struct NarrowEnding {
  int32x4_t zero;
  int16x8_t low, high, inside = vdupq_n_s16(0);

  explicit NarrowEnding(const AffineArgs& a)
      : zero(vdupq_n_s32(int32_t(a.y_zero))), low(vdupq_n_s16(int16_t(a.low))), high(vdupq_n_s16(int16_t(a.high))) {}
  void operator()(Wide8 sums, Y* y) {
    const Narrow8 sum = saturated_halves(sums);
    const int16x8_t value = vqmovn_high_s32(vqmovn_s32(vqaddq_s32(sum.v[0], zero)), vqaddq_s32(sum.v[1], zero));
    const int16x8_t clipped = vminq_s16(vmaxq_s16(value, low), high);
    inside = vaddq_s16(inside, vreinterpretq_s16_u16(vceqq_s16(clipped, value)));
    if constexpr (sizeof(Y) == 1) vst1_s8(y, vmovn_s16(clipped));
    else vst1q_s16(y, clipped);
  }
  int64_t counted() const { return vaddlvq_s16(inside); }
};

static inline Wide8 add_product(Wide8 sum, Narrow8 x, Narrow8 factor) { return multiply_add(sum, x, factor); }
static inline Wide8 add_product(Wide8 sum, Narrow8 x, const Factor8& factor) { return factor.add_product(sum, x); }

// kResidual: there is one, and its factor is a Factor of 32 bits or of more.
template <bool kResidual, class X, class R, class Y, class Ending, class Factor, class Round>
void run_with(const AffineArgs& a, Factor factor, Round round) {
  const X* x = static_cast<const X*>(a.x);
  const R* residual = static_cast<const R*>(a.residual);
  Y* y = static_cast<Y*>(a.y);
  const int64_t size = a.rows * a.channels, residual_part = kResidual ? mul(a.residual_zero, a.residual_factor) : 0;
  int64_t outside = 0, c = 0;
  for (; c + 8 <= a.channels; c += 8) {
    const Narrow8 slope = load8(a.a + c);
    int64_t start[8];
    for (int k = 0; k < 8; ++k) start[k] = sub(sub(a.b[c + k], mul(a.x_zero, a.a[c + k])), residual_part);
    const Wide8 offset = load8(start);
    for (int64_t at = c; at < size;) {
      Ending ending(a);
      const int64_t end = min_of(size, at + kRowsCounted * a.channels), first = at;
      for (; at < end; at += a.channels) {
        Wide8 sum = multiply_add(offset, load8(x + at), slope);
        if (kResidual) sum = add_product(sum, load8(residual + at), factor);
        ending(round(sum), y + at);
      }
      outside += (at - first) / a.channels * 8 + ending.counted();
    }
  }
  for (; c < a.channels; ++c) {
    for (int64_t at = c; at < size; at += a.channels) {
      int64_t sum = add(mul(sub(x[at], a.x_zero), a.a[c]), a.b[c]);
      if (kResidual) sum = add(sum, mul(sub(residual[at], a.residual_zero), a.residual_factor));
      const int64_t value = add(round_shift(sum, a.shift), a.y_zero);
      outside += value < a.low || value > a.high;
      y[at] = Y(saturate(value, a.low, a.high));
    }
  }
  *a.saturated = add(*a.saturated, outside);
}

// Whether every sum stays below 2^62 in size, as in all compiled programs: rounding by srshl knows no wrapping.
template <class X, class R>
bool far_from_wrapping(const AffineArgs& a) {
  int64_t slope = 0, offset = 0;
  for (int64_t c = 0; c < a.channels; ++c) {
    slope |= absolute(a.a[c]);
    offset |= absolute(a.b[c]);
  }
  const auto fits = [](int64_t factor, int64_t zero, int type_bytes) {
    return bit_length(factor) + bit_length(absolute(zero) + (int64_t(1) << (8 * type_bytes - 1))) <= 60;
  };
  return offset >= 0 && bit_length(offset) <= 61 && fits(slope, a.x_zero, sizeof(X)) &&
         (!a.residual || fits(a.residual_factor, a.residual_zero, sizeof(R)));
}

template <bool kResidual, class X, class R, class Y, class Ending>
void run_to(const AffineArgs& a) {
  const bool narrow = a.residual_factor == int32_t(a.residual_factor);
  const Narrow8 factor = all8(int32_t(a.residual_factor));
  if (a.shift < 1 || a.shift > kLargestShift || !far_from_wrapping<X, R>(a))
    run_with<kResidual, X, R, Y, Ending>(a, Factor8(a.residual_factor), RoundShiftNeon(a.shift));
  else if (!kResidual || narrow) run_with<kResidual, X, R, Y, Ending>(a, factor, RoundRightNeon(a.shift));
  else run_with<kResidual, X, R, Y, Ending>(a, Factor8(a.residual_factor), RoundRightNeon(a.shift));
}

template <bool kResidual, class X, class R, class Y>
void run_as(const AffineArgs& a) {
  if (sizeof(Y) < 4 && a.low > INT16_MIN && a.high < INT16_MAX) {
    if constexpr (sizeof(Y) < 4) run_to<kResidual, X, R, Y, NarrowEnding<Y>>(a);
    return;
  }
  run_to<kResidual, X, R, Y, Ending<Y>>(a);
}

}  // namespace

void affine_neon(const AffineArgs& a) {
  const bool fits = fits32(a.x_type, a.x_zero) && (!a.residual || fits32(a.residual_type, a.residual_zero)) &&
                    a.low <= a.high && a.low > -kHalf && a.high < kHalf && absolute(a.y_zero) < kHalf;
  if (!fits) return affine_scalar(a);
  if (a.x_type == BR_INT32 && affine_bytes<int32_t>(a, {})) return;
  if (a.x_type == BR_INT16 && affine_bytes<int16_t>(a, {})) return;
  with_narrow_type(a.x_type, [&](auto x) {
    with_narrow_type(a.y_type, [&](auto y) {
      using X = decltype(x);
      using Y = decltype(y);
      if (!a.residual) return run_as<false, X, int8_t, Y>(a);
      with_narrow_type(a.residual_type, [&](auto r) { run_as<true, X, decltype(r), Y>(a); });
    });
  });
}

bool affine_clipped_neon(const AffineArgs& a, ClippedTo clipped) { return affine_bytes<int16_t, true>(a, clipped); }

}  // namespace bitreplay
