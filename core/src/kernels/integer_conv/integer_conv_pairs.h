// Integer convolution with output channels in the lanes, for the instruction sets whose multiplication adds pairs of
// 16-bit products (vpmaddwd, vpdpwssd).
//
// The inputs of a pixel, x - zero, are gathered as `row` 16-bit numbers (0 where a tap lies outside: it adds nothing);
// the weights stand as pairs of neighbours in a row, for 2 * kLanes outputs side by side. Four pixels share each load
// of weights. Sums are 32-bit numbers: exact where `row` times the largest product is below 2^31, and where down <= 0
// in any case, since only the low 32 bits of a sum are stored then.
//
// Other widths: 64-bit lanes, eight outputs side by side, weights as wide as they are stored.
#pragma once
#include <cstring>

#include "bitreplay.h"
#include "arithmetic/elements.h"
#include "arithmetic/fixedpoint.h"
#include "kernels/integer_conv/integer_conv.h"
#include "arithmetic/sliding_window.h"

namespace bitreplay {
namespace {

constexpr int64_t kLongestRow = 2304, kPixelsAtATime = 4, kWideLanes = 8;

int64_t row_of(const IntegerConvArgs& a) { return a.kernel * a.kernel * a.channels; }
int64_t groups_of(const IntegerConvArgs& a, int64_t group) { return (a.outputs + group - 1) / group; }

// Few outputs would leave most lanes empty.
bool fits_pairs(const IntegerConvArgs& a, int64_t group) {
  const int64_t row = row_of(a), zero = absolute(a.x_zero);
  if (a.w_type == BR_INT32 || row > kLongestRow || a.outputs < group / 2) return false;
  if (a.x_type == BR_INT8 ? zero > 1 << 14 : a.x_type != BR_INT16 || zero) return false;
  const int64_t largest_x = a.x_type == BR_INT8 ? zero + 128 : 1 << 15, largest_w = a.w_type == BR_INT8 ? 128 : 1 << 15;
  return a.down <= 0 || row * largest_x * largest_w < int64_t(1) << 31;
}

uint64_t derived_bytes_of(const IntegerConvArgs& a, int64_t group) {
  if (fits_pairs(a, group)) return uint64_t(groups_of(a, group) * group * ((row_of(a) + 1) / 2) * 4);
  return uint64_t(groups_of(a, kWideLanes) * kWideLanes * row_of(a) * element_bytes(a.w_type));
}

void derive_for(const IntegerConvArgs& a, uint8_t* derived, int64_t group) {
  const int64_t row = row_of(a), item = element_bytes(a.w_type);
  if (!fits_pairs(a, group)) {
    const uint8_t* w = static_cast<const uint8_t*>(a.w);
    for (int64_t o = 0; o < groups_of(a, kWideLanes) * kWideLanes; ++o) {
      for (int64_t k = 0; k < row; ++k) {
        uint8_t* to = derived + ((o / kWideLanes * row + k) * kWideLanes + o % kWideLanes) * item;
        if (o < a.outputs) memcpy(to, w + (o * row + k) * item, size_t(item));
        else memset(to, 0, size_t(item));
      }
    }
    return;
  }
  const int64_t pairs = (row + 1) / 2;
  int16_t* to = reinterpret_cast<int16_t*>(derived);
  for (int64_t o = 0; o < groups_of(a, group) * group; ++o) {
    for (int64_t k = 0; k < 2 * pairs; ++k) {
      int64_t value = 0;
      if (o < a.outputs && k < row) widen(a.w_type, a.w, o * row + k, 1, &value);
      to[((o / group * pairs + k / 2) * group + o % group) * 2 + k % 2] = int16_t(value);
    }
  }
}

// Calls run(first element of x, first element of a weight row, elements) for each row of taps of output pixel q.
template <class Run>
inline void over_tap_rows(const IntegerConvArgs& a, int64_t q, Run run) {
  const int64_t pixels = a.out_h * a.out_w, out_row = q % pixels / a.out_w, out_column = q % a.out_w;
  const TapRange rows = taps_inside(out_row, a.stride, a.pad, a.kernel, a.height);
  const TapRange columns = taps_inside(out_column, a.stride, a.pad, a.kernel, a.width);
  const int64_t count = (columns.last - columns.first) * a.channels, left = out_column * a.stride + columns.first - a.pad;
  for (int64_t row = rows.first; row < rows.last; ++row) {
    const int64_t y = out_row * a.stride + row - a.pad;
    run(((q / pixels * a.height + y) * a.width + left) * a.channels, (row * a.kernel + columns.first) * a.channels, count);
  }
}

template <class X>
inline void gather(const IntegerConvArgs& a, int64_t q, int16_t* inputs) {
  const X* x = static_cast<const X*>(a.x);
  const int16_t zero = int16_t(a.x_zero);
  const int64_t row = row_of(a);
  int64_t filled = 0;
  over_tap_rows(a, q, [&](int64_t from, int64_t to, int64_t count) {
    for (; filled < to; ++filled) inputs[filled] = 0;
    for (int64_t i = 0; i < count; ++i) inputs[to + i] = int16_t(x[from + i] - zero);
    filled = to + count;
  });
  for (; filled < row + row % 2; ++filled) inputs[filled] = 0;
}

// Lanes: Vector, kLanes, zero(), load(), store(), pair(from) in all lanes, dot(sums, x, w).
template <class Lanes>
struct PixelSums {
  typename Lanes::Vector of[kPixelsAtATime][2];
};

// Sums of `pairs` pairs for four pixels and 2 * kLanes outputs.
template <class Lanes>
inline PixelSums<Lanes> pixel_sums(const int16_t* const* x, const int32_t* w, int64_t pairs) {
  using Vector = typename Lanes::Vector;
  Vector s00 = Lanes::zero(), s01 = s00, s10 = s00, s11 = s00, s20 = s00, s21 = s00, s30 = s00, s31 = s00;
  for (int64_t k = 0; k < pairs; ++k, w += 2 * Lanes::kLanes) {
    const Vector w0 = Lanes::load(w), w1 = Lanes::load(w + Lanes::kLanes);
    const Vector x0 = Lanes::pair(x[0] + 2 * k), x1 = Lanes::pair(x[1] + 2 * k);
    const Vector x2 = Lanes::pair(x[2] + 2 * k), x3 = Lanes::pair(x[3] + 2 * k);
    s00 = Lanes::dot(s00, x0, w0), s01 = Lanes::dot(s01, x0, w1);
    s10 = Lanes::dot(s10, x1, w0), s11 = Lanes::dot(s11, x1, w1);
    s20 = Lanes::dot(s20, x2, w0), s21 = Lanes::dot(s21, x2, w1);
    s30 = Lanes::dot(s30, x3, w0), s31 = Lanes::dot(s31, x3, w1);
  }
  return {{{s00, s01}, {s10, s11}, {s20, s21}, {s30, s31}}};
}

template <class Lanes, class X>
void run_pairs(const IntegerConvArgs& a) {
  constexpr int64_t group = 2 * Lanes::kLanes;
  const int64_t pairs = (row_of(a) + 1) / 2, pixels = a.samples * a.out_h * a.out_w;
  alignas(64) int16_t inputs[kPixelsAtATime][kLongestRow];
  alignas(64) int32_t sums[group];
  for (int64_t q = 0; q < pixels; q += kPixelsAtATime) {
    const int64_t count = least(kPixelsAtATime, pixels - q);
    const int16_t* x[kPixelsAtATime];
    for (int64_t p = 0; p < kPixelsAtATime; ++p) {
      x[p] = inputs[p < count ? p : 0];
      if (p < count) gather<X>(a, q + p, inputs[p]);
    }
    const int32_t* w = reinterpret_cast<const int32_t*>(a.derived);
    for (int64_t first = 0; first < a.outputs; first += group, w += pairs * group) {
      const PixelSums<Lanes> found = pixel_sums<Lanes>(x, w, pairs);
      const int64_t outputs = least(group, a.outputs - first);
      for (int64_t p = 0; p < count; ++p) {
        int32_t* to = a.sums + (q + p) * a.outputs + first;
        int32_t* place = outputs == group ? to : sums;
        Lanes::store(place, found.of[p][0]);
        Lanes::store(place + Lanes::kLanes, found.of[p][1]);
        if (outputs == group && a.down == 0) continue;
        for (int64_t o = 0; o < outputs; ++o) to[o] = int32_t(round_shift(place[o], a.down));
      }
    }
  }
}

// Vectors of the compiler's: each instruction set has its own registers for them.
template <class X, class W>
void run_wide(const IntegerConvArgs& a) {
  typedef uint64_t Sums __attribute__((vector_size(8 * kWideLanes)));  // without a sign: they wrap
  typedef W Weights __attribute__((vector_size(sizeof(W) * kWideLanes)));
  const X* x = static_cast<const X*>(a.x);
  const int64_t row = row_of(a);
  for (int64_t q = 0; q < a.samples * a.out_h * a.out_w; ++q) {
    for (int64_t first = 0; first < a.outputs; first += kWideLanes) {
      Sums sums = {};
      const W* weights = reinterpret_cast<const W*>(a.derived) + first * row;
      over_tap_rows(a, q, [&](int64_t from, int64_t at, int64_t count) {
        for (int64_t i = 0; i < count; ++i) {
          Weights w;
          memcpy(&w, weights + (at + i) * kWideLanes, sizeof w);
          sums += __builtin_convertvector(w, Sums) * uint64_t(sub(x[from + i], a.x_zero));
        }
      });
      for (int64_t o = 0; o < least(kWideLanes, a.outputs - first); ++o)
        a.sums[q * a.outputs + first + o] = int32_t(round_shift(int64_t(sums[o]), a.down));
    }
  }
}

template <class X>
void run_wide_x(const IntegerConvArgs& a) {
  if (a.w_type == BR_INT8) return run_wide<X, int8_t>(a);
  if (a.w_type == BR_INT16) return run_wide<X, int16_t>(a);
  return run_wide<X, int32_t>(a);
}

template <class Lanes>
void run_lanes(const IntegerConvArgs& a) {
  if (fits_pairs(a, 2 * Lanes::kLanes))
    return a.x_type == BR_INT8 ? run_pairs<Lanes, int8_t>(a) : run_pairs<Lanes, int16_t>(a);
  if (a.x_type == BR_INT8) return run_wide_x<int8_t>(a);
  if (a.x_type == BR_INT16) return run_wide_x<int16_t>(a);
  return run_wide_x<int32_t>(a);
}

template <class Lanes>
constexpr IntegerConv integer_conv_with() {
  return {[](const IntegerConvArgs& a) { return derived_bytes_of(a, 2 * Lanes::kLanes); },
          [](const IntegerConvArgs& a, uint8_t* derived) { derive_for(a, derived, 2 * Lanes::kLanes); },
          run_lanes<Lanes>};
}

}  // namespace
}  // namespace bitreplay
