// Eight elements at a time, for gradients of 32 bits to 8 or 16; others go in the lanes that all instruction sets
// share.
//
// d's product, distance 2^(32 - shift) slope / 2^32 rounded, is one sqrdmulh of half the distance's factor. NEON has no
// larger of two 64-bit numbers: the largest value is sought by its upper 32 bits alone. Where the shift is the same for
// the least and the most that it can be, it is known, and else the values are made once more.
#include "kernels/lanes/lanes_neon.h"
#include "kernels/sign/sign_input_grad_lanes.h"

namespace bitreplay {
namespace {

#define INLINE __attribute__((always_inline))  // into the loops: their constants stay in registers

constexpr int64_t kNearZero = 1 << 14;

// round_shift by s <= 0, and by s > 0. Products are at most 2^62 in size.
struct LeftNeon {
  int64x2_t by;

  explicit LeftNeon(int64_t s) : by(vdupq_n_s64(min_of(-s, kLargestShift))) {}
  Wide8 operator()(Wide8 x) const {
    for (int k = 0; k < 4; ++k) x.v[k] = vshlq_s64(x.v[k], by);
    return x;
  }
};

// Calls f with what rounds by s. A shift by 64 leaves 0, as the law has it for all above 62.
template <class F>
void with_rounding(int64_t s, F f) {
  if (s <= 0) f(LeftNeon(s));
  else f(RoundRightNeon(s <= kLargestShift ? s : 64));
}

struct DerivativeNeon {
  int16x8_t zero16, furthest16;
  int32x4_t zero, furthest, up, slope;
  uint32x4_t peak;

  DerivativeNeon(const SignInputGradArgs& a, int64_t first_zero_distance, bool live)
      : zero16(vdupq_n_s16(int16_t(a.zero))), furthest16(vdupq_n_s16(int16_t(min_of(first_zero_distance, INT16_MAX)))),
        zero(vdupq_n_s32(int32_t(a.zero))), furthest(vdupq_n_s32(int32_t(first_zero_distance))),
        up(vdupq_n_s32(int32_t(31 - a.slope_shift))), slope(vdupq_n_s32(int32_t(a.slope_mantissa))),
        peak(vdupq_n_u32(live ? uint32_t(a.peak) : 0)) {}

  // |x - zero|, at most `furthest`.
  Narrow8 distance(const int8_t* x) const {
    const int16x8_t near = vminq_s16(vabdq_s16(vmovl_s8(vld1_s8(x)), zero16), furthest16);
    return {{vmovl_s16(vget_low_s16(near)), vmovl_high_s16(near)}};
  }
  Narrow8 distance(const int16_t* x) const {
    Narrow8 result = load8(x);
    for (int k = 0; k < 2; ++k) result.v[k] = vminq_s32(vabdq_s32(result.v[k], zero), furthest);
    return result;
  }
  template <class X>
  Narrow8 at(const X* x) const {
    Narrow8 result = distance(x);
    for (int k = 0; k < 2; ++k) {
      const int32x4_t down = vqrdmulhq_s32(vshlq_s32(result.v[k], up), slope);
      result.v[k] = vreinterpretq_s32_u32(vqsubq_u32(peak, vreinterpretq_u32_s32(down)));
    }
    return result;
  }
};

// What the shift of a sample can be, by the upper halves of its values.
struct UpperHalves {
  int32x4_t largest = vdupq_n_s32(0), smallest = largest;

  void add(Wide8 x) {
    for (int k = 0; k < 4; k += 2) {
      const int32x4_t upper = vuzp2q_s32(vreinterpretq_s32_s64(x.v[k]), vreinterpretq_s32_s64(x.v[k + 1]));
      largest = vmaxq_s32(largest, upper);
      smallest = vminq_s32(smallest, upper);
    }
  }
  // Whether the largest size is above 0 and its shift known.
  bool knows(int64_t bits, int64_t* shift) const {
    const int64_t unit = int64_t(1) << 32, above = vmaxvq_s32(largest), below = vminvq_s32(smallest);
    if (below == INT32_MIN) return false;
    const int64_t low = bitreplay::max_of(above * unit, below < 0 ? (-below - 1) * unit + 1 : 0);
    const int64_t high = bitreplay::max_of(above * unit + unit - 1, -below * unit);
    *shift = quantising_shift(high, bits);
    return low > 0 && quantising_shift(low, bits) == *shift;
  }
};

// values(at): eight of them, of a sample's `size`.
template <class T, class Values>
void quantise(Values values, int64_t size, int64_t exponent, int64_t bits, T* gx, int32_t* ex) {
  UpperHalves upper;
  for (int64_t at = 0; at < size; at += 8) upper.add(values(at));
  int64_t shift, largest = 1;
  if (!upper.knows(bits, &shift)) {
    int64x2_t each = vdupq_n_s64(0);
    for (int64_t at = 0; at < size; at += 8) {
      const Wide8 x = values(at);
      for (int k = 0; k < 4; ++k) each = bitreplay::larger(each, vabsq_s64(x.v[k]));
    }
    largest = bitreplay::largest_of(each);
    shift = quantising_shift(largest, bits);
  }
  *ex = quantised_exponent(largest, exponent, shift);
  with_rounding(shift, [&](auto round) {
    for (int64_t at = 0; at < size; at += 8) store8(gx + at, low_halves(round(values(at))));
  });
}

template <class X, class T>
void run_as(const SignInputGradArgs& a, int64_t furthest) {
  const Narrow8 factor = all8(int32_t(a.other_factor));
  for (int64_t n = 0; n < a.samples; ++n) {
    const int32_t* g = static_cast<const int32_t*>(a.g) + n * a.size;
    const X* x = static_cast<const X*>(a.x) + n * a.size;
    const T* other = static_cast<const T*>(a.other) + (a.other ? n * a.size : 0);
    T* gx = static_cast<T*>(a.gx) + n * a.size;
    const int64_t e = a.e[n] - a.peak_shift;
    Alignment both = {e, {0, 0}, {true, false}};
    if (a.other) both = align(e, a.bound, a.other_e[n] - a.other_shift, a.other_bound);
    const DerivativeNeon d(a, furthest, both.live[0]);
    with_rounding(both.shift[0], [&](auto first) {
      auto one = [=](int64_t at) INLINE { return first(load8(g + at) * d.at(x + at)); };
      if (!both.live[1]) return quantise(one, a.size, both.exponent, a.bits, gx, a.ex + n);
      with_rounding(both.shift[1], [&](auto second) {
        auto sum = [=](int64_t at) INLINE { return one(at) + second(load8(other + at) * factor); };
        quantise(sum, a.size, both.exponent, a.bits, gx, a.ex + n);
      });
    });
  }
}

// The lanes' conditions (rsign_lanes.h), and a shift that leaves sqrdmulh its factor of two.
bool in_eights(const SignInputGradArgs& a) {
  if (a.g_type != BR_INT32 || a.x_type == BR_INT32 || a.gx_type == BR_INT32 || a.size % 8) return false;
  if (a.other && (a.other_type != a.gx_type || a.other_factor != int32_t(a.other_factor))) return false;
  const Derivative d({a.zero, 0, kThresholds}, a.peak, a.slope_mantissa, a.slope_shift);
  if (a.slope_shift > 31 || absolute(a.zero) > kNearZero) return false;
  if (!(a.x_type == BR_INT8 ? d.fits<int8_t>(1) : d.fits<int16_t>(1))) return false;
  if (a.x_type == BR_INT8 && a.gx_type == BR_INT8) run_as<int8_t, int8_t>(a, d.furthest);
  if (a.x_type == BR_INT8 && a.gx_type == BR_INT16) run_as<int8_t, int16_t>(a, d.furthest);
  if (a.x_type == BR_INT16 && a.gx_type == BR_INT8) run_as<int16_t, int8_t>(a, d.furthest);
  if (a.x_type == BR_INT16 && a.gx_type == BR_INT16) run_as<int16_t, int16_t>(a, d.furthest);
  return true;
}

}  // namespace

void sign_input_grad_neon(const SignInputGradArgs& a) {
  if (!in_eights(a) && !sign_grad_in_lanes(a)) sign_input_grad_scalar(a);
}

}  // namespace bitreplay
