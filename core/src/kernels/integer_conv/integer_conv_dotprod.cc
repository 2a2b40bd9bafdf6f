// Integer convolution by sdot (ARMv8.2): four products of bytes are added to each of four outputs.
//
// Weights of 8 bits stand as [outputs / 16][row / 16][4 quads][16 outputs][4], the row of a pixel's inputs as bytes; 16
// outputs of four pixels are 16 registers of sums. Four quads of a pixel are one register, of which sdot takes one.
//
//    bytes    sum (x - zero) w = sum x w - zero sum w; outside the map x = zero
//    int16    x = 256 high + low + 128 in signed bytes: sum x w = 256 sum high w + sum low w + 128 sum w
//
// All modulo 2^32, as in integer_conv_pairs.h. What is taken from a sum stands behind the weights, one number an
// output. Other widths, and shapes for which this would take more memory, are the NEON kernel's.
//
// Bound: 72 instructions for 1,024 products.
#include <arm_neon.h>

#include <cstring>

#include "arithmetic/fixedpoint.h"
#include "arithmetic/sliding_window.h"
#include "bitreplay.h"
#include "kernels/integer_conv/integer_conv.h"

namespace bitreplay {
namespace {

#define INLINE __attribute__((always_inline))

constexpr int64_t kOutputs = 16, kStep = 16, kPixels = 4, kLongestRow = 2304;

int64_t row_of(const IntegerConvArgs& a) { return a.kernel * a.kernel * a.channels; }
int64_t padded_row(const IntegerConvArgs& a) { return (row_of(a) + kStep - 1) / kStep * kStep; }
int64_t groups_of(const IntegerConvArgs& a) { return (a.outputs + kOutputs - 1) / kOutputs; }
uint64_t bytes_of(const IntegerConvArgs& a) { return uint64_t(groups_of(a) * kOutputs * (padded_row(a) + 4)); }

bool serves(const IntegerConvArgs& a) {
  if (a.w_type != BR_INT8 || row_of(a) > kLongestRow) return false;
  if (a.x_type == BR_INT8 ? a.x_zero != int8_t(a.x_zero) : a.x_type != BR_INT16 || a.x_zero) return false;
  const int64_t largest = a.x_type == BR_INT8 ? 128 + absolute(a.x_zero) : 1 << 15;
  return (a.down <= 0 || row_of(a) * largest * 128 < int64_t(1) << 31) &&
         bytes_of(a) <= kIntegerConvNeon.packed_weights_bytes(a);
}

uint64_t packed_weights_bytes(const IntegerConvArgs& a) {
  return serves(a) ? bytes_of(a) : kIntegerConvNeon.packed_weights_bytes(a);
}

void pack_weights(const IntegerConvArgs& a, uint8_t* packed_weights) {
  if (!serves(a)) return kIntegerConvNeon.pack_weights(a, packed_weights);
  const int64_t row = row_of(a), padded = padded_row(a), outputs = groups_of(a) * kOutputs;
  const int8_t* w = static_cast<const int8_t*>(a.w);
  int8_t* to = reinterpret_cast<int8_t*>(packed_weights);
  memset(to, 0, size_t(bytes_of(a)));
  for (int64_t o = 0; o < a.outputs; ++o) {
    int64_t sum = 0;
    for (int64_t k = 0; k < row; ++k) {
      sum += w[o * row + k];
      to[(o / kOutputs * padded / 4 + k / 4) * kOutputs * 4 + o % kOutputs * 4 + k % 4] = w[o * row + k];
    }
    const int32_t corrections = int32_t(sum * (a.x_type == BR_INT8 ? -a.x_zero : 128));
    memcpy(packed_weights + outputs * padded + 4 * o, &corrections, sizeof corrections);
  }
}

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

  template <int kQuad>
  INLINE void quad(int8x16_t x0, int8x16_t x1, int8x16_t x2, int8x16_t x3, const int8_t* w) {
    const int8x16x4_t weights = vld1q_s8_x4(w + kQuad * 4 * kOutputs);
    p.add<kQuad>(x0, weights);
    q.add<kQuad>(x1, weights);
    r.add<kQuad>(x2, weights);
    s.add<kQuad>(x3, weights);
  }
  INLINE void run(const int8_t* const* x, const int8_t* w, int64_t padded) {
    for (int64_t k = 0; k < padded; k += kStep, w += kStep * kOutputs) {
      const int8x16_t x0 = vld1q_s8(x[0] + k), x1 = vld1q_s8(x[1] + k), x2 = vld1q_s8(x[2] + k),
                      x3 = vld1q_s8(x[3] + k);
      quad<0>(x0, x1, x2, x3, w);
      quad<1>(x0, x1, x2, x3, w);
      quad<2>(x0, x1, x2, x3, w);
      quad<3>(x0, x1, x2, x3, w);
    }
  }
};

struct Gathered {
  alignas(64) int8_t low[kPixels][kLongestRow], high[kPixels][kLongestRow];
  const int8_t *x[kPixels], *upper[kPixels];

  void put(int64_t p, int64_t at, const int8_t* from, int64_t count) { memcpy(low[p] + at, from, size_t(count)); }
  void put(int64_t p, int64_t at, const int16_t* from, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      high[p][at + i] = int8_t(from[i] >> 8);
      low[p][at + i] = int8_t((from[i] & 255) - 128);
    }
  }
  // What stands for a pixel outside the map; behind the row weights are 0.
  template <class X>
  void fill(const IntegerConvArgs& a, int64_t p, int64_t at, int64_t end) {
    if (end <= at) return;
    memset(low[p] + at, sizeof(X) == 1 ? int(a.x_zero) : -128, size_t(end - at));
    if (sizeof(X) == 2) memset(high[p] + at, 0, size_t(end - at));
  }

  // The row of output pixel q, as number p.
  template <class X>
  void gather(const IntegerConvArgs& a, int64_t q, int64_t p) {
    const int64_t pixels = a.out_h * a.out_w, out_row = q % pixels / a.out_w, out_column = q % a.out_w;
    const TapRange rows = taps_inside(out_row, a.stride, a.pad, a.kernel, a.height);
    const TapRange columns = taps_inside(out_column, a.stride, a.pad, a.kernel, a.width);
    const int64_t left = out_column * a.stride + columns.first - a.pad,
                  count = (columns.last - columns.first) * a.channels;
    const X* map = static_cast<const X*>(a.x) + q / pixels * a.height * a.width * a.channels;
    const auto from = [&](int64_t row) {
      return map + ((out_row * a.stride + row - a.pad) * a.width + left) * a.channels;
    };
    x[p] = low[p], upper[p] = high[p];
    if constexpr (sizeof(X) == 1) {
      if (a.kernel == 1 && count == a.channels && a.channels % kStep == 0 && rows.last > rows.first) {
        x[p] = from(0);  // as it lies there
        return;
      }
    }
    int64_t filled = 0;
    for (int64_t row = rows.first; row < rows.last; ++row) {
      const int64_t at = (row * a.kernel + columns.first) * a.channels;
      fill<X>(a, p, filled, at);
      put(p, at, from(row), count);
      filled = at + count;
    }
    fill<X>(a, p, filled, padded_row(a));
  }
};

template <class X>
void run_as(const IntegerConvArgs& a) {
  const int64_t padded = padded_row(a), pixels = a.samples * a.out_h * a.out_w;
  const int8_t* weights = reinterpret_cast<const int8_t*>(a.packed_weights);
  const int32_t* corrections = reinterpret_cast<const int32_t*>(a.packed_weights + groups_of(a) * kOutputs * padded);
  Gathered row;
  for (int64_t first = 0; first < pixels; first += kPixels) {
    const int64_t count = min_of(kPixels, pixels - first);
    for (int64_t p = 0; p < kPixels; ++p) {
      if (p < count) row.gather<X>(a, first + p, p);
      else row.x[p] = row.x[0], row.upper[p] = row.upper[0];
    }
    for (int64_t group = 0; group < groups_of(a); ++group) {
      const int8_t* w = weights + group * kOutputs * padded;
      const int32_t* from = corrections + group * kOutputs;
      const Sums start = {vld1q_s32(from), vld1q_s32(from + 4), vld1q_s32(from + 8), vld1q_s32(from + 12)};
      Dots dots = {start, start, start, start};
      if (sizeof(X) == 2) {
        const int32x4_t none = vdupq_n_s32(0);
        const Sums zero = {none, none, none, none};
        dots = {zero, zero, zero, zero};
        dots.run(row.upper, w, padded);
        dots.p.shift(start), dots.q.shift(start), dots.r.shift(start), dots.s.shift(start);
      }
      dots.run(row.x, w, padded);
      int32_t results[kPixels][kOutputs];
      dots.p.store(results[0]), dots.q.store(results[1]), dots.r.store(results[2]), dots.s.store(results[3]);
      const int64_t outputs = min_of(kOutputs, a.outputs - group * kOutputs);
      for (int64_t p = 0; p < count; ++p) {
        int32_t* to = a.sums + (first + p) * a.outputs + group * kOutputs;
        if (a.down == 0 && outputs == kOutputs) memcpy(to, results[p], sizeof results[p]);
        else
          for (int64_t o = 0; o < outputs; ++o) to[o] = int32_t(round_shift(results[p][o], a.down));
      }
    }
  }
}

void run(const IntegerConvArgs& a) {
  if (!serves(a)) return kIntegerConvNeon.run(a);
  if (a.x_type == BR_INT8) return run_as<int8_t>(a);
  run_as<int16_t>(a);
}

}  // namespace

extern const IntegerConv kIntegerConvDotprod = {packed_weights_bytes, pack_weights, run};

}  // namespace bitreplay
