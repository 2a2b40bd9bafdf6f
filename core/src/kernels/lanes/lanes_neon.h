// Eight elements of a stored width as int32 lanes, their products as int64 lanes, and the law's rounding on them
// (fixedpoint.h). Callers handle what is left of eight one by one.
#pragma once
#include <arm_neon.h>

#include <cstdint>

namespace bitreplay {

struct Narrow8 {
  int32x4_t v[2];
};
struct Wide8 {
  int64x2_t v[4];
};

static inline Narrow8 load8(const int16_t* from) {
  const int16x8_t x = vld1q_s16(from);
  return {{vmovl_s16(vget_low_s16(x)), vmovl_high_s16(x)}};
}
static inline Narrow8 load8(const int8_t* from) {
  const int16x8_t x = vmovl_s8(vld1_s8(from));
  return {{vmovl_s16(vget_low_s16(x)), vmovl_high_s16(x)}};
}
static inline Narrow8 load8(const int32_t* from) { return {{vld1q_s32(from), vld1q_s32(from + 4)}}; }
static inline Wide8 load8(const int64_t* from) {
  return {{vld1q_s64(from), vld1q_s64(from + 2), vld1q_s64(from + 4), vld1q_s64(from + 6)}};
}

static inline Narrow8 all8(int32_t x) { return {{vdupq_n_s32(x), vdupq_n_s32(x)}}; }
static inline Wide8 all8_wide(int64_t x) {
  const int64x2_t v = vdupq_n_s64(x);
  return {{v, v, v, v}};
}

static inline Narrow8 operator-(Narrow8 a, Narrow8 b) {
  return {{vsubq_s32(a.v[0], b.v[0]), vsubq_s32(a.v[1], b.v[1])}};
}
static inline Wide8 operator+(Wide8 a, Wide8 b) {
  for (int k = 0; k < 4; ++k) a.v[k] = vaddq_s64(a.v[k], b.v[k]);
  return a;
}
static inline Wide8 operator*(Narrow8 a, Narrow8 b) {
  return {{vmull_s32(vget_low_s32(a.v[0]), vget_low_s32(b.v[0])), vmull_high_s32(a.v[0], b.v[0]),
           vmull_s32(vget_low_s32(a.v[1]), vget_low_s32(b.v[1])), vmull_high_s32(a.v[1], b.v[1])}};
}
static inline Wide8 multiply_add(Wide8 sum, Narrow8 a, Narrow8 b) {
  return {{vmlal_s32(sum.v[0], vget_low_s32(a.v[0]), vget_low_s32(b.v[0])), vmlal_high_s32(sum.v[1], a.v[0], b.v[0]),
           vmlal_s32(sum.v[2], vget_low_s32(a.v[1]), vget_low_s32(b.v[1])), vmlal_high_s32(sum.v[3], a.v[1], b.v[1])}};
}
static inline Wide8 add_wide(Wide8 sum, Narrow8 a) {
  return {{vaddw_s32(sum.v[0], vget_low_s32(a.v[0])), vaddw_high_s32(sum.v[1], a.v[0]),
           vaddw_s32(sum.v[2], vget_low_s32(a.v[1])), vaddw_high_s32(sum.v[3], a.v[1])}};
}

// A factor of up to 40 bits as high 2^31 + low, so that x factor is made of two products of 32 bits.
struct Factor8 {
  Narrow8 low, high;

  explicit Factor8(int64_t factor) : low(all8(int32_t(factor & 0x7FFFFFFF))), high(all8(int32_t(factor >> 31))) {}
  Wide8 add_product(Wide8 sum, Narrow8 x) const {
    const Wide8 upper = x * high;
    for (int k = 0; k < 4; ++k) sum.v[k] = vaddq_s64(sum.v[k], vshlq_n_s64(upper.v[k], 31));
    return multiply_add(sum, x, low);
  }
};

// round_shift with one shift for all lanes.
struct RoundShiftNeon {
  int64x2_t half, by;
  bool rounds, vanishes;

  explicit RoundShiftNeon(int64_t s) : rounds(s > 0), vanishes(s > 62) {
    half = vdupq_n_s64(s > 0 && s <= 62 ? int64_t(1) << (s - 1) : 0);
    by = vdupq_n_s64(s < -62 ? 62 : s > 62 ? 0 : -s);
  }
  // To nearest, ties away from zero: one less is added to a negative number.
  int64x2_t operator()(int64x2_t x) const {
    if (vanishes) return vdupq_n_s64(0);
    if (!rounds) return vshlq_s64(x, by);
    return vshlq_s64(vaddq_s64(vsraq_n_s64(x, x, 63), half), by);
  }
  Wide8 operator()(Wide8 x) const {
    for (int k = 0; k < 4; ++k) x.v[k] = (*this)(x.v[k]);
    return x;
  }
};

// The same for shifts of 1 to 62: srshl adds the half.
struct RoundRightNeon {
  int64x2_t by;

  explicit RoundRightNeon(int64_t s) : by(vdupq_n_s64(-s)) {}
  int64x2_t operator()(int64x2_t x) const { return vrshlq_s64(vsraq_n_s64(x, x, 63), by); }
  Wide8 operator()(Wide8 x) const {
    for (int k = 0; k < 4; ++k) x.v[k] = (*this)(x.v[k]);
    return x;
  }
};

static inline Narrow8 low_halves(Wide8 x) {
  return {{vmovn_high_s64(vmovn_s64(x.v[0]), x.v[1]), vmovn_high_s64(vmovn_s64(x.v[2]), x.v[3])}};
}
static inline Narrow8 saturated_halves(Wide8 x) {
  return {{vqmovn_high_s64(vqmovn_s64(x.v[0]), x.v[1]), vqmovn_high_s64(vqmovn_s64(x.v[2]), x.v[3])}};
}

// Storing keeps the low bits.
static inline void store8(int32_t* to, Narrow8 x) {
  vst1q_s32(to, x.v[0]);
  vst1q_s32(to + 4, x.v[1]);
}
static inline void store8(int16_t* to, Narrow8 x) { vst1q_s16(to, vmovn_high_s32(vmovn_s32(x.v[0]), x.v[1])); }
static inline void store8(int8_t* to, Narrow8 x) { vst1_s8(to, vmovn_s16(vmovn_high_s32(vmovn_s32(x.v[0]), x.v[1]))); }

// The largest so far of each lane, as signed numbers.
static inline int64x2_t larger(int64x2_t a, int64x2_t b) { return vbslq_s64(vcgtq_s64(a, b), a, b); }

static inline int64_t largest_of(int64x2_t a) {
  const int64_t x = vgetq_lane_s64(a, 0), y = vgetq_lane_s64(a, 1);
  return x > y ? x : y;
}

// Whether x - zero of this stored type fits 32 bits.
static inline bool fits32(int type, int64_t zero) {
  return type == 2 ? zero == 0 : zero > -(int64_t(1) << 30) && zero < int64_t(1) << 30;
}

// Calls f(T()) with the C type of a stored width of at most 32 bits.
template <class F>
static inline void with_narrow_type(int type, F f) {
  if (type == 0) f(int8_t());
  else if (type == 1) f(int16_t());
  else f(int32_t());
}

}  // namespace bitreplay
