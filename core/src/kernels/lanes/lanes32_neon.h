// lanes32.h on NEON: 4 lanes; products of the low half and of the high one.
#pragma once
#include <arm_neon.h>

#include <cstdint>
#include <cstring>

namespace bitreplay {
namespace {

constexpr int64_t kLanes = 4;
struct Lanes {
  int32x4_t v;
};
struct Wide {
  int64x2_t low, high;
};
struct Where {
  uint32x4_t mask;
};

inline Lanes all_lanes(int32_t x) { return {vdupq_n_s32(x)}; }
inline Wide all_wide(int64_t x) { return {vdupq_n_s64(x), vdupq_n_s64(x)}; }

inline Lanes load_lanes(const int8_t* from) {
  uint32_t four;
  memcpy(&four, from, sizeof four);
  return {vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_u32(vdup_n_u32(four)))))};
}
inline Lanes load_lanes(const int16_t* from) { return {vmovl_s16(vld1_s16(from))}; }
inline Lanes load_lanes(const int32_t* from) { return {vld1q_s32(from)}; }

// Storing keeps the low bits.
inline void store_lanes(int8_t* to, Lanes x) {
  const int16x4_t words = vmovn_s32(x.v);
  const uint32_t four = vget_lane_u32(vreinterpret_u32_s8(vmovn_s16(vcombine_s16(words, words))), 0);
  memcpy(to, &four, sizeof four);
}
inline void store_lanes(int16_t* to, Lanes x) { vst1_s16(to, vmovn_s32(x.v)); }
inline void store_lanes(int32_t* to, Lanes x) { vst1q_s32(to, x.v); }

inline Wide load_wide(const int64_t* from) { return {vld1q_s64(from), vld1q_s64(from + 2)}; }
inline void store_wide(int64_t* to, Wide x) {
  vst1q_s64(to, x.low);
  vst1q_s64(to + 2, x.high);
}

inline Lanes operator+(Lanes a, Lanes b) { return {vaddq_s32(a.v, b.v)}; }
inline Lanes operator-(Lanes a, Lanes b) { return {vsubq_s32(a.v, b.v)}; }
inline Lanes operator<<(Lanes a, int64_t s) { return {vshlq_s32(a.v, vdupq_n_s32(int32_t(s)))}; }
inline Lanes operator>>(Lanes a, int64_t s) { return {vshlq_s32(a.v, vdupq_n_s32(int32_t(-s)))}; }
inline Lanes smaller(Lanes a, Lanes b) { return {vminq_s32(a.v, b.v)}; }
inline Lanes larger(Lanes a, Lanes b) { return {vmaxq_s32(a.v, b.v)}; }
inline Lanes magnitude(Lanes a) { return {vabsq_s32(a.v)}; }
inline Where operator>(Lanes a, Lanes b) { return {vcgtq_s32(a.v, b.v)}; }
inline Lanes choose(Where where, Lanes yes, Lanes no) { return {vbslq_s32(where.mask, yes.v, no.v)}; }
// Bit i of a number stands for lane i.
inline uint32x4_t lane_bits() {
  const uint32_t places[4] = {1, 2, 4, 8};
  return vld1q_u32(places);
}
inline Where where_bits(uint32_t bits) { return {vtstq_u32(vdupq_n_u32(bits), lane_bits())}; }
inline uint32_t bits_where(Where where) { return vaddvq_u32(vandq_u32(where.mask, lane_bits())); }
// count + 1 where a and b differ.
inline Lanes count_unequal(Lanes count, Lanes a, Lanes b) {
  return {vsubq_s32(count.v, vreinterpretq_s32_u32(vmvnq_u32(vceqq_s32(a.v, b.v))))};
}

inline Wide operator*(Lanes a, Lanes b) {
  return {vmull_s32(vget_low_s32(a.v), vget_low_s32(b.v)), vmull_high_s32(a.v, b.v)};
}
inline Wide operator+(Wide a, Wide b) { return {vaddq_s64(a.low, b.low), vaddq_s64(a.high, b.high)}; }
inline Wide operator-(Wide a, Wide b) { return {vsubq_s64(a.low, b.low), vsubq_s64(a.high, b.high)}; }
inline Wide magnitude(Wide a) { return {vabsq_s64(a.low), vabsq_s64(a.high)}; }
inline Wide larger(Wide a, Wide b) {
  return {vbslq_s64(vcgtq_s64(a.low, b.low), a.low, b.low), vbslq_s64(vcgtq_s64(a.high, b.high), a.high, b.high)};
}

// a - 1 where a < b.
inline Wide less_one_below(Wide a, Wide b) {
  return {vaddq_s64(a.low, vreinterpretq_s64_u64(vcgtq_s64(b.low, a.low))),
          vaddq_s64(a.high, vreinterpretq_s64_u64(vcgtq_s64(b.high, a.high)))};
}

// The low and the high 32 bits.
inline Lanes low_lanes(Wide x) { return {vmovn_high_s64(vmovn_s64(x.low), x.high)}; }
inline Lanes high_lanes(Wide x) { return {vshrn_high_n_s64(vshrn_n_s64(x.low, 32), x.high, 32)}; }

inline Wide shift_left(Wide x, int64_t s) {
  const int64x2_t by = vdupq_n_s64(s);
  return {vshlq_s64(x.low, by), vshlq_s64(x.high, by)};
}
inline Wide shift_right(Wide x, int64_t s) { return shift_left(x, -s); }
// The low 32 bits of x / 2^s rounded down, s <= 32.
inline Lanes low_right(Wide x, int64_t s) { return low_lanes(shift_right(x, s)); }

}  // namespace
}  // namespace bitreplay
