// Bytes by bytes: smull and smlal add the products of two inputs in 16 bits, which hold them unless both are
// (-128)(-128), and sadalp adds pairs of these to 32 bits: 16 products in three instructions, four outputs of four
// pixels in 16 registers (integer_conv_bytes.h). Bound: 61 instructions for 256 products.
//
// Other widths, and short rows of bytes, whose sums would be brought together too often: smlal by one input, four
// products at a time, eight outputs of four pixels in 16 registers (integer_conv_pairs.h).
#include "kernels/integer_conv/integer_conv_bytes.h"
#include "kernels/integer_conv/integer_conv_input_grad_pairs.h"

namespace bitreplay {
namespace {

struct Lanes {
  using Vector = int32x4_t;
  static constexpr int64_t kLanes = 4;
  static constexpr bool kByNumbers = true;
  static void store(int32_t* to, Vector x) { vst1q_s32(to, x); }

  // Sums of eight outputs at a pixel. Fields, not arrays, which compilers would keep in memory.
  struct Eight {
    int32x4_t a, b;

    template <int kNumber>
    INLINE void add(int16x8_t x, int16x8_t w) {
      a = vmlal_laneq_s16(a, vget_low_s16(w), x, kNumber);
      b = vmlal_high_laneq_s16(b, w, x, kNumber);
    }
  };
  // Four pixels.
  struct Pixels {
    Eight p, q, r, s;

    template <int kNumber>
    INLINE void add(int16x8_t x0, int16x8_t x1, int16x8_t x2, int16x8_t x3, const int16_t* w) {
      const int16x8_t weights = vld1q_s16(w + 8 * kNumber);
      p.add<kNumber>(x0, weights), q.add<kNumber>(x1, weights);
      r.add<kNumber>(x2, weights), s.add<kNumber>(x3, weights);
    }
    INLINE void add_eight(int16x8_t x0, int16x8_t x1, int16x8_t x2, int16x8_t x3, const int16_t* w) {
      add<0>(x0, x1, x2, x3, w), add<1>(x0, x1, x2, x3, w), add<2>(x0, x1, x2, x3, w), add<3>(x0, x1, x2, x3, w);
      add<4>(x0, x1, x2, x3, w), add<5>(x0, x1, x2, x3, w), add<6>(x0, x1, x2, x3, w), add<7>(x0, x1, x2, x3, w);
    }
  };
  INLINE static int16x8_t pair(const int16_t* from) {
    int32_t both;
    memcpy(&both, from, sizeof both);
    return vreinterpretq_s16_s32(vdupq_n_s32(both));
  }
  INLINE static PixelSums<Lanes> pixel_sums(const PixelRows& from, const int16_t* w) {
    const int32x4_t none = vdupq_n_s32(0);
    Pixels sums = {{none, none}, {none, none}, {none, none}, {none, none}};
    const int16_t *p = from.x[0], *q = from.x[1], *r = from.x[2], *s = from.x[3];
    for (int64_t row = 0; row < from.rows; ++row, p += from.apart, q += from.apart, r += from.apart, s += from.apart) {
      int64_t at = 0;
      for (; at + 8 <= 2 * from.pairs; at += 8, w += 64)
        sums.add_eight(vld1q_s16(p + at), vld1q_s16(q + at), vld1q_s16(r + at), vld1q_s16(s + at), w);
      for (; at < 2 * from.pairs; at += 2, w += 16) {
        const int16x8_t x0 = pair(p + at), x1 = pair(q + at), x2 = pair(r + at), x3 = pair(s + at);
        sums.add<0>(x0, x1, x2, x3, w), sums.add<1>(x0, x1, x2, x3, w);
      }
    }
    return {{{sums.p.a, sums.p.b}, {sums.q.a, sums.q.b}, {sums.r.a, sums.r.b}, {sums.s.a, sums.s.b}}};
  }
};

constexpr int64_t kShortRow = 48;

// Sums of four outputs at a pixel, four to an output. kLowest: a weight is -128. Fields, not arrays, which compilers
// would keep in memory.
template <bool kLowest>
struct Four {
  int32x4_t a, b, c, d;

  INLINE static int32x4_t add(int32x4_t sums, int8x16_t x, int8x16_t w) {
    const int16x8_t first = vmull_s8(vget_low_s8(x), vget_low_s8(w));
    if (kLowest) return vpadalq_s16(vpadalq_s16(sums, first), vmull_high_s8(x, w));
    return vpadalq_s16(sums, vmlal_high_s8(first, x, w));
  }
  INLINE void add(const int8_t*& from, const int8x16x4_t& w) {
    // The pixels one after the other: compilers would mix them and run out of registers.
    asm volatile("" : "+r"(from));
    const int8x16_t x = vld1q_s8(from);
    from += kStep;
    a = add(a, x, w.val[0]);
    b = add(b, x, w.val[1]);
    c = add(c, x, w.val[2]);
    d = add(d, x, w.val[3]);
    asm volatile("" : "+w"(d));
  }
  INLINE void store(int32x4_t corrections, int32_t* to) const {
    vst1q_s32(to, vaddq_s32(vpaddq_s32(vpaddq_s32(a, b), vpaddq_s32(c, d)), corrections));
  }
};

template <bool kLowest>
struct Tile {
  static constexpr int64_t kOutputs = 4, kRun = 16;

  template <class X>
  INLINE static void sums(const Gathered& row, const int8_t* w, const int32_t* from, int64_t padded, int32_t* to,
                          int64_t apart) {
    const int32x4_t none = vdupq_n_s32(0);
    Four<kLowest> p = {none, none, none, none}, q = p, r = p, s = p;
    const int8_t *x0 = row.x[0], *x1 = row.x[1], *x2 = row.x[2], *x3 = row.x[3];
    for (const int8_t* end = w + padded * kOutputs; w < end; w += kStep * kOutputs) {
      const int8x16x4_t weights = vld1q_s8_x4(w);
      p.add(x0, weights);
      q.add(x1, weights);
      r.add(x2, weights);
      s.add(x3, weights);
    }
    const int32x4_t corrections = vld1q_s32(from);
    p.store(corrections, to), q.store(corrections, to + apart);
    r.store(corrections, to + 2 * apart), s.store(corrections, to + 3 * apart);
  }
};

using Conv = ByteConv<Tile<false>>;
constexpr IntegerConv kPairs = integer_conv_with<Lanes, affine_of_rows_neon>();

bool serves(const IntegerConvArgs& a) {
  return a.x_type == BR_INT8 && fits_bytes(a) && Conv::bytes_of(a) + 4 <= kPairs.packed_weights_bytes(a) &&
         !(fits_pairs(a, 2 * Lanes::kLanes) && bytes_of_row(a) <= kShortRow);
}

uint64_t packed_weights_bytes(const IntegerConvArgs& a) {
  return serves(a) ? Conv::bytes_of(a) + 4 : kPairs.packed_weights_bytes(a);
}

// Behind it all: whether a weight is -128.
void pack_weights(const IntegerConvArgs& a, uint8_t* packed_weights) {
  if (!serves(a)) return kPairs.pack_weights(a, packed_weights);
  Conv::pack_weights(a, packed_weights);
  const int8_t* w = static_cast<const int8_t*>(a.w);
  int32_t lowest = 0;
  for (int64_t i = 0; i < a.outputs * bytes_of_row(a); ++i) lowest |= w[i] == INT8_MIN;
  memcpy(packed_weights + Conv::bytes_of(a), &lowest, sizeof lowest);
}

bool has_lowest(const IntegerConvArgs& a) {
  int32_t lowest;
  memcpy(&lowest, a.packed_weights + Conv::bytes_of(a), sizeof lowest);
  return lowest;
}

void run(const IntegerConvArgs& a) {
  if (!serves(a)) return kPairs.run(a);
  if (has_lowest(a)) return ByteConv<Tile<true>>::run<int8_t>(a);
  Conv::run<int8_t>(a);
}

bool run_affine(const IntegerConvArgs& a, const AffineArgs& affine, const uint8_t* prepared) {
  if (!serves(a)) return kPairs.run_affine(a, affine, prepared);
  return has_lowest(a) ? ByteConv<Tile<true>>::run_affine<int8_t>(a, affine, prepared)
                       : Conv::run_affine<int8_t>(a, affine, prepared);
}

}  // namespace

const IntegerConv kIntegerConvNeon = {packed_weights_bytes, pack_weights,   run,
                                      run_affine,           in_order_bytes, prepare_in_order};
const IntegerConvInputGrad kIntegerConvInputGradNeon = integer_conv_input_grad_with<Lanes>();

}  // namespace bitreplay
