// Integer convolution by sdot (ARMv8.2): four products of bytes are added to each of four outputs.
//
// Weights and rows are those of integer_conv_bytes.h, four inputs of 16 outputs side by side; 16 outputs of four pixels
// are 16 registers of sums. Four quads of a pixel are one register, of which sdot takes one. Other widths, and shapes
// for which this would take more memory, are the NEON kernel's.
//
// Bound: 72 instructions for 1,024 products.
#include "kernels/integer_conv/integer_conv_bytes.h"

namespace bitreplay {
namespace {

constexpr int64_t kOutputs = 16;

// Sums of 16 outputs at a pixel. Fields, not arrays, which compilers would keep in memory.
struct Sums {
  int32x4_t a, b, c, d;

  template <int kQuad>
  INLINE void add(int8x16_t x, const int8x16x4_t& w) {
    a = vdotq_laneq_s32(a, w.val[0], x, kQuad);
    b = vdotq_laneq_s32(b, w.val[1], x, kQuad);
    c = vdotq_laneq_s32(c, w.val[2], x, kQuad);
    d = vdotq_laneq_s32(d, w.val[3], x, kQuad);
  }
  INLINE void shift(const Sums& corrections) {
    a = vaddq_s32(vshlq_n_s32(a, 8), corrections.a);
    b = vaddq_s32(vshlq_n_s32(b, 8), corrections.b);
    c = vaddq_s32(vshlq_n_s32(c, 8), corrections.c);
    d = vaddq_s32(vshlq_n_s32(d, 8), corrections.d);
  }
  INLINE void store(int32_t* to) const {
    vst1q_s32(to, a);
    vst1q_s32(to + 4, b);
    vst1q_s32(to + 8, c);
    vst1q_s32(to + 12, d);
  }
};

// Four pixels: p, q, r, s.
struct Dots {
  Sums p, q, r, s;

  INLINE void start(int32x4_t a, int32x4_t b, int32x4_t c, int32x4_t d) {
    p.a = a, p.b = b, p.c = c, p.d = d;
    q.a = a, q.b = b, q.c = c, q.d = d;
    r.a = a, r.b = b, r.c = c, r.d = d;
    s.a = a, s.b = b, s.c = c, s.d = d;
  }
  template <int kQuad>
  INLINE void quad(int8x16_t x0, int8x16_t x1, int8x16_t x2, int8x16_t x3, const int8_t*& w) {
    // One quad after the other: compilers would load all weights first and run out of registers.
    asm("" : "+r"(w) : "w"(s.d));
    const int8x16x4_t weights = vld1q_s8_x4(w);
    w += 4 * kOutputs;
    p.add<kQuad>(x0, weights);
    q.add<kQuad>(x1, weights);
    r.add<kQuad>(x2, weights);
    s.add<kQuad>(x3, weights);
  }
  INLINE void run(const int8_t* const* x, const int8_t* w, int64_t padded) {
    for (int64_t k = 0; k < padded; k += kStep) {
      const int8x16_t x0 = vld1q_s8(x[0] + k), x1 = vld1q_s8(x[1] + k), x2 = vld1q_s8(x[2] + k),
                      x3 = vld1q_s8(x[3] + k);
      quad<0>(x0, x1, x2, x3, w);
      quad<1>(x0, x1, x2, x3, w);
      quad<2>(x0, x1, x2, x3, w);
      quad<3>(x0, x1, x2, x3, w);
    }
  }
};

struct Tile {
  static constexpr int64_t kOutputs = bitreplay::kOutputs, kRun = 4;

  template <class X>
  INLINE static void sums(const Gathered& row, const int8_t* w, const int32_t* from, int64_t padded, int32_t* to,
                          int64_t apart) {
    Dots dots;
    fill<X>(dots, row, w, from, padded);
    dots.p.store(to), dots.q.store(to + apart), dots.r.store(to + 2 * apart), dots.s.store(to + 3 * apart);
  }
  template <class X>
  INLINE static void fill(Dots& dots, const Gathered& row, const int8_t* w, const int32_t* from, int64_t padded) {
    const int32x4_t a = vld1q_s32(from), b = vld1q_s32(from + 4), c = vld1q_s32(from + 8), d = vld1q_s32(from + 12);
    if (sizeof(X) == 1) {
      dots.start(a, b, c, d);
    } else {
      const int32x4_t none = vdupq_n_s32(0);
      dots.start(none, none, none, none);
      dots.run(row.upper, w, padded);
      const Sums corrections = {a, b, c, d};
      dots.p.shift(corrections), dots.q.shift(corrections), dots.r.shift(corrections), dots.s.shift(corrections);
    }
    dots.run(row.x, w, padded);
  }
};

using Conv = ByteConv<Tile>;

// Short rows of 16 bits for few outputs, as a first layer has them, take longer to be cut into bytes than to be
// multiplied as they are.
constexpr int64_t kShortRow = 64, kFewOutputs = 32;

constexpr int64_t kMostInRegisters = 1 << 15;  // outputs of four pixels: as many as a lane counts

bool serves(const IntegerConvArgs& a) {
  if (a.x_type == BR_INT16 && bytes_of_row(a) <= kShortRow && a.outputs <= kFewOutputs) return false;
  const uint64_t others = kIntegerConvNeon.packed_weights_bytes(a);  // in bytes or in 16 bits
  return fits_bytes(a) && Conv::bytes_of(a) <= (a.x_type == BR_INT8 ? 2 * others : others);
}

uint64_t packed_weights_bytes(const IntegerConvArgs& a) {
  return serves(a) ? Conv::bytes_of(a) : kIntegerConvNeon.packed_weights_bytes(a);
}

void pack_weights(const IntegerConvArgs& a, uint8_t* packed_weights) {
  if (!serves(a)) return kIntegerConvNeon.pack_weights(a, packed_weights);
  Conv::pack_weights(a, packed_weights);
}

void run(const IntegerConvArgs& a) {
  if (!serves(a)) return kIntegerConvNeon.run(a);
  if (a.x_type == BR_INT8) return Conv::run<int8_t>(a);
  Conv::run<int16_t>(a);
}

// What affine makes of the sums of a part while they are in registers. A function of its own: within the loops around
// it the compiler would keep sums in memory.
template <class X, bool kDown>
__attribute__((noinline)) void put_part(const Conv::Part& part, int64_t padded, int8_t* to, int64_t apart,
                                        AffineOfSumsNeon<kDown>& affine) {
  Dots dots;
  Tile::fill<X>(dots, part.row, part.w, part.corrections, padded);
  const int64_t pixels = part.pixels, output = part.output;
  const bool all = part.outputs == kOutputs;
  AffineOfSumsNeon<kDown> with = affine;  // which bytes that are stored are no part of
  const auto put = [&](const Sums& own) INLINE {
    if (all) with.put(output, own.a, own.b, own.c, own.d, to);
    else with.put(output, own.a, own.b, to);  // channels come by eights
    to += apart;
  };
  put(dots.p);
  if (pixels > 1) put(dots.q);
  if (pixels > 2) put(dots.r);
  if (pixels > 3) put(dots.s);
  affine.inside = with.inside;
}

// How many results lay outside the affine's range.
template <class X, bool kDown>
int64_t run_in_registers(const IntegerConvArgs& a, const AffineArgs& args, const AffineInOrder& of) {
  AffineOfSumsNeon<kDown> affine(args, of);
  const int64_t pixels = a.samples * a.out_h * a.out_w, padded = padded_row(a), apart = a.outputs;
  int64_t same = 0;
  Conv::over_tiles<X>(a, 0, pixels, [&](const Conv::Part& part) INLINE {
    if (part.output == 0) same += affine.take_same();
    put_part<X>(part, padded, static_cast<int8_t*>(args.y) + part.pixel * apart + part.output, apart, affine);
  });
  return pixels * a.outputs - same - affine.take_same();
}

template <class X>
bool run_affine_of(const IntegerConvArgs& a, const AffineArgs& args, const uint8_t* prepared) {
  const AffineInOrder* affine = reinterpret_cast<const AffineInOrder*>(prepared);
  if (!affine || !affine->fits || a.outputs > kMostInRegisters) return Conv::run_affine<X>(a, args, prepared);
  const int64_t outside =
      affine->down ? run_in_registers<X, true>(a, args, *affine) : run_in_registers<X, false>(a, args, *affine);
  *args.saturated = add(*args.saturated, outside);
  return true;
}

bool run_affine(const IntegerConvArgs& a, const AffineArgs& affine, const uint8_t* prepared) {
  if (!serves(a)) return kIntegerConvNeon.run_affine(a, affine, prepared);
  return a.x_type == BR_INT8 ? run_affine_of<int8_t>(a, affine, prepared) : run_affine_of<int16_t>(a, affine, prepared);
}

}  // namespace

extern const IntegerConv kIntegerConvDotprod = {packed_weights_bytes, pack_weights,   run,
                                                run_affine,           in_order_bytes, prepare_in_order};

}  // namespace bitreplay
