// Integer convolution with output channels in the lanes, for the instruction sets whose multiplication adds pairs of
// 16-bit products (vpmaddwd, vpdpwssd).
//
// The inputs of a pixel, x - zero, are gathered as 16-bit numbers (0 where a tap lies outside: it adds nothing);
// the weights stand as pairs of neighbours in a row, for 2 * kLanes outputs side by side. Four pixels share each load
// of weights. 16-bit inputs whose taps are all inside are read where they lie, a row of taps after the other: each has
// a whole number of pairs, the last weight of an odd one is 0. Sums are 32-bit numbers: exact where `row` times the
// largest product is below 2^31, and where down <= 0 in any case, since only the low 32 bits of a sum are stored then.
//
// Other widths: 64-bit lanes, eight outputs side by side, weights as wide as they are stored.
#pragma once
#include <cstring>

#include "arithmetic/elements.h"
#include "arithmetic/fixedpoint.h"
#include "arithmetic/sliding_window.h"
#include "bitreplay.h"
#include "kernels/affine/affine_part.h"
#include "kernels/integer_conv/integer_conv.h"
#include "kernels/integer_conv/prepared_in_order.h"

namespace bitreplay {
namespace {

constexpr int64_t kLongestRow = 2304, kPixelsAtATime = 4, kSumsOfSome = 2048, kWideLanes = 8;

int64_t row_of(const IntegerConvArgs& a) { return a.kernel * a.kernel * a.channels; }
// Numbers of a row of taps, and pairs of all.
int64_t tap_row_of(const IntegerConvArgs& a) {
  const int64_t row = a.kernel * a.channels;
  return a.x_type == BR_INT16 ? row + row % 2 : row;
}
int64_t pairs_of(const IntegerConvArgs& a) { return (a.kernel * tap_row_of(a) + 1) / 2; }
int64_t groups_of(const IntegerConvArgs& a, int64_t group) { return (a.outputs + group - 1) / group; }

// Few outputs would leave most lanes empty.
bool fits_pairs(const IntegerConvArgs& a, int64_t group) {
  const int64_t row = row_of(a), zero = absolute(a.x_zero);
  if (a.w_type == BR_INT32 || 2 * pairs_of(a) > kLongestRow || a.outputs < group / 2) return false;
  if (a.x_type == BR_INT8 ? zero > 1 << 14 : a.x_type != BR_INT16 || zero) return false;
  const int64_t largest_x = a.x_type == BR_INT8 ? zero + 128 : 1 << 15, largest_w = a.w_type == BR_INT8 ? 128 : 1 << 15;
  return a.down <= 0 || row * largest_x * largest_w < int64_t(1) << 31;
}

uint64_t wide_weights_bytes(const IntegerConvArgs& a) {
  return uint64_t(groups_of(a, kWideLanes) * kWideLanes * row_of(a) * element_bytes(a.w_type));
}

void pack_wide_weights(const IntegerConvArgs& a, uint8_t* packed_weights) {
  const int64_t row = row_of(a), item = element_bytes(a.w_type);
  const uint8_t* w = static_cast<const uint8_t*>(a.w);
  for (int64_t o = 0; o < groups_of(a, kWideLanes) * kWideLanes; ++o) {
    for (int64_t k = 0; k < row; ++k) {
      uint8_t* to = packed_weights + ((o / kWideLanes * row + k) * kWideLanes + o % kWideLanes) * item;
      if (o < a.outputs) memcpy(to, w + (o * row + k) * item, size_t(item));
      else memset(to, 0, size_t(item));
    }
  }
}

inline uint64_t derived_bytes_of(const IntegerConvArgs& a, int64_t group) {
  if (!fits_pairs(a, group)) return wide_weights_bytes(a);
  return uint64_t(groups_of(a, group) * group * pairs_of(a) * 4);
}

// Lanes that multiply by one number at a time (kByNumbers) have a pair's first weights of all outputs, then its second
// ones; the others an output's two side by side.
template <class Lanes>
constexpr bool kByNumbers = requires {
  Lanes::kByNumbers;
};
template <class Lanes>
inline int64_t place_in_pair(int64_t output, int64_t number) {
  return kByNumbers<Lanes> ? number * 2 * Lanes::kLanes + output : output * 2 + number;
}

template <class Lanes>
inline void derive_for(const IntegerConvArgs& a, uint8_t* packed_weights) {
  constexpr int64_t group = 2 * Lanes::kLanes;
  if (!fits_pairs(a, group)) return pack_wide_weights(a, packed_weights);
  const int64_t row = row_of(a), pairs = pairs_of(a), tap_row = tap_row_of(a), there = a.kernel * a.channels;
  int16_t* to = reinterpret_cast<int16_t*>(packed_weights);
  for (int64_t o = 0; o < groups_of(a, group) * group; ++o) {
    for (int64_t k = 0; k < 2 * pairs; ++k) {
      int64_t value = 0;
      const int64_t r = k / tap_row, i = k % tap_row;
      if (o < a.outputs && r < a.kernel && i < there) widen(a.w_type, a.w, o * row + r * there + i, 1, &value);
      to[(o / group * pairs + k / 2) * group * 2 + place_in_pair<Lanes>(o % group, k % 2)] = int16_t(value);
    }
  }
}

// Where an output pixel lies. The next one is found without a division.
struct OutputPixel {
  int64_t sample, row, column;

  static OutputPixel number(const IntegerConvArgs& a, int64_t q) {
    const int64_t pixels = a.out_h * a.out_w;
    return {q / pixels, q % pixels / a.out_w, q % a.out_w};
  }
  void advance(const IntegerConvArgs& a) {
    if (++column < a.out_w) return;
    column = 0;
    if (++row < a.out_h) return;
    row = 0;
    ++sample;
  }
};

// Calls run(first element of x, row of taps, first element in it, elements) for each row of taps of an output pixel.
template <class Run>
inline void over_tap_rows(const IntegerConvArgs& a, OutputPixel q, Run run) {
  const TapRange rows = taps_inside(q.row, a.stride, a.pad, a.kernel, a.height);
  const TapRange columns = taps_inside(q.column, a.stride, a.pad, a.kernel, a.width);
  const int64_t count = (columns.last - columns.first) * a.channels, left = q.column * a.stride + columns.first - a.pad;
  for (int64_t row = rows.first; row < rows.last; ++row) {
    const int64_t y = q.row * a.stride + row - a.pad;
    run(((q.sample * a.height + y) * a.width + left) * a.channels, row, columns.first * a.channels, count);
  }
}

// Eight at a time; the last eight may meet those before.
template <class X>
inline void widen_row(const X* x, int64_t count, int16_t zero, int16_t* to) {
  constexpr int64_t eight = 8;
  const auto some = [&](int64_t at) {
    for (int64_t i = at; i < at + eight; ++i) to[i] = int16_t(x[i] - zero);
  };
  if (count < eight) {
    for (int64_t i = 0; i < count; ++i) to[i] = int16_t(x[i] - zero);
    return;
  }
  for (int64_t at = 0; at + eight <= count; at += eight) some(at);
  if (count % eight) some(count - eight);
}

template <class X>
inline void gather(const IntegerConvArgs& a, OutputPixel q, int16_t* inputs) {
  const X* x = static_cast<const X*>(a.x);
  const int16_t zero = int16_t(a.x_zero);
  const int64_t tap_row = tap_row_of(a), all = 2 * pairs_of(a);
  const int64_t row_at = q.row * a.stride, column_at = q.column * a.stride;
  if (a.kernel == 1 && a.pad == 0 && row_at < a.height && column_at < a.width) {
    widen_row(x + ((q.sample * a.height + row_at) * a.width + column_at) * a.channels, a.channels, zero, inputs);
    if (a.channels < all) inputs[a.channels] = 0;
    return;
  }
  int64_t filled = 0;
  over_tap_rows(a, q, [&](int64_t from, int64_t row, int64_t first, int64_t count) {
    const int64_t to = row * tap_row + first;
    for (; filled < to; ++filled) inputs[filled] = 0;
    widen_row(x + from, count, zero, inputs + to);
    filled = to + count;
  });
  for (; filled < all; ++filled) inputs[filled] = 0;
}

// Lanes: Vector, kLanes, zero(), load(), store(), pair(from) in all lanes, dot(sums, x, w); or
// kByNumbers and pixel_sums of its own.
template <class Lanes>
struct PixelSums {
  typename Lanes::Vector of[kPixelsAtATime][2];
};

// Four pixels' inputs: `rows` rows of `pairs` pairs, `apart` numbers from one another.
struct PixelRows {
  const int16_t* x[kPixelsAtATime];
  int64_t rows, pairs, apart;
};

// Sums for four pixels and 2 * kLanes outputs.
template <class Lanes>
requires kByNumbers<Lanes>
inline PixelSums<Lanes> pixel_sums(const PixelRows& from, const int32_t* w) {
  return Lanes::pixel_sums(from, reinterpret_cast<const int16_t*>(w));
}
template <class Lanes>
inline PixelSums<Lanes> pixel_sums(const PixelRows& from, const int32_t* w) {
  using Vector = typename Lanes::Vector;
  Vector s00 = Lanes::zero(), s01 = s00, s10 = s00, s11 = s00, s20 = s00, s21 = s00, s30 = s00, s31 = s00;
  const int16_t *p0 = from.x[0], *p1 = from.x[1], *p2 = from.x[2], *p3 = from.x[3];
  for (int64_t r = 0; r < from.rows; ++r, p0 += from.apart, p1 += from.apart, p2 += from.apart, p3 += from.apart) {
    for (int64_t k = 0; k < from.pairs; ++k, w += 2 * Lanes::kLanes) {
      const Vector w0 = Lanes::load(w), w1 = Lanes::load(w + Lanes::kLanes);
      const Vector x0 = Lanes::pair(p0 + 2 * k), x1 = Lanes::pair(p1 + 2 * k);
      const Vector x2 = Lanes::pair(p2 + 2 * k), x3 = Lanes::pair(p3 + 2 * k);
      s00 = Lanes::dot(s00, x0, w0), s01 = Lanes::dot(s01, x0, w1);
      s10 = Lanes::dot(s10, x1, w0), s11 = Lanes::dot(s11, x1, w1);
      s20 = Lanes::dot(s20, x2, w0), s21 = Lanes::dot(s21, x2, w1);
      s30 = Lanes::dot(s30, x3, w0), s31 = Lanes::dot(s31, x3, w1);
    }
  }
  return {{{s00, s01}, {s10, s11}, {s20, s21}, {s30, s31}}};
}

// Whether all taps of so many pixels from `first` on lie inside, and so what is read behind the last of an odd row.
inline bool can_read_in_place(const IntegerConvArgs& a, OutputPixel first, int64_t pixels = kPixelsAtATime) {
  const int64_t top = first.row * a.stride - a.pad, left = first.column * a.stride - a.pad;
  const int64_t right = left + (pixels - 1) * a.stride + a.kernel, bottom = top + a.kernel;
  if (a.x_type != BR_INT16 || first.column + pixels > a.out_w) return false;
  if (top < 0 || left < 0 || bottom > a.height || right > a.width) return false;
  return right < a.width || bottom < a.height || first.sample + 1 < a.samples || a.kernel * a.channels % 2 == 0;
}

// put(sums, first pixel, pixels that are there, first output) for all.
template <class Lanes, class X, class Put>
inline void over_pair_sums(const IntegerConvArgs& a, Put put) {
  constexpr int64_t group = 2 * Lanes::kLanes;
  const int64_t pairs = pairs_of(a), pixels = a.samples * a.out_h * a.out_w;
  alignas(64) int16_t inputs[kPixelsAtATime][kLongestRow];
  OutputPixel next = {0, 0, 0};
  for (int64_t q = 0; q < pixels; q += kPixelsAtATime) {
    const int64_t count = min_of(kPixelsAtATime, pixels - q);
    PixelRows from = {{}, 1, pairs, 0};
    if (can_read_in_place(a, next)) {
      const int64_t row = (next.sample * a.height + next.row * a.stride - a.pad) * a.width;
      const int16_t* x = static_cast<const int16_t*>(a.x) + (row + next.column * a.stride - a.pad) * a.channels;
      from.rows = a.kernel, from.pairs = tap_row_of(a) / 2, from.apart = a.width * a.channels;
      for (int64_t p = 0; p < kPixelsAtATime; ++p, next.advance(a)) from.x[p] = x + p * a.stride * a.channels;
    } else {
      for (int64_t p = 0; p < kPixelsAtATime; ++p) {
        from.x[p] = inputs[p < count ? p : 0];
        if (p >= count) continue;
        gather<X>(a, next, inputs[p]);
        next.advance(a);
      }
    }
    const int32_t* w = reinterpret_cast<const int32_t*>(a.packed_weights);
    for (int64_t first = 0; first < a.outputs; first += group, w += pairs * group)
      put(pixel_sums<Lanes>(from, w), q, count, first);
  }
}

// The sums of pixel q go to row(q); done(q, pixels) tells of those that are there from q on.
template <class Lanes, class X, class Row, class Done>
void run_pairs(const IntegerConvArgs& a, Row row, Done done) {
  constexpr int64_t group = 2 * Lanes::kLanes;
  alignas(64) int32_t sums[kPixelsAtATime * group];
  over_pair_sums<Lanes, X>(a, [&](const PixelSums<Lanes>& pixel, int64_t q, int64_t count, int64_t first) {
    const int64_t outputs = min_of(group, a.outputs - first);
    int32_t* to = row(q) + first;
    const bool whole = outputs == group && count == kPixelsAtATime && a.down == 0;
    int32_t* const place = whole ? to : sums;
    const int64_t apart = whole ? a.outputs : group;
#pragma GCC unroll 4
    for (int64_t p = 0; p < kPixelsAtATime; ++p) {
      Lanes::store(place + p * apart, pixel.of[p][0]);
      Lanes::store(place + p * apart + Lanes::kLanes, pixel.of[p][1]);
    }
    for (int64_t p = 0; !whole && p < count; ++p, to += a.outputs)
      for (int64_t o = 0; o < outputs; ++o) to[o] = int32_t(round_shift(sums[p * group + o], a.down));
    if (first + group >= a.outputs) done(q, count);
  });
}

template <class Lanes, class X>
void run_pairs(const IntegerConvArgs& a) {
  run_pairs<Lanes, X>(
      a, [&](int64_t q) { return a.sums + q * a.outputs; }, [](int64_t, int64_t) {});
}

// Into the affine, some pixels at a time.
template <class Lanes, class X>
void run_pairs_some(const IntegerConvArgs& a, const AffineArgs& args, AffineOfRows* affine, const uint8_t* prepared) {
  int32_t sums[kSumsOfSome];
  const int64_t pixels = a.samples * a.out_h * a.out_w;
  int64_t begin = 0;
  run_pairs<Lanes, X>(
      a, [&](int64_t q) { return sums + (q - begin) * a.outputs; },
      [&](int64_t q, int64_t count) {
        const int64_t end = q + count;
        if (end < pixels && (end - begin + kPixelsAtATime) * a.outputs <= kSumsOfSome) return;
        affine(affine_rows(args, sums, begin, end - begin), prepared);
        begin = end;
      });
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
      const W* weights = reinterpret_cast<const W*>(a.packed_weights) + first * row;
      over_tap_rows(a, OutputPixel::number(a, q), [&](int64_t from, int64_t tap_row, int64_t offset, int64_t count) {
        const int64_t at = tap_row * a.kernel * a.channels + offset;
        for (int64_t i = 0; i < count; ++i) {
          Weights w;
          memcpy(&w, weights + (at + i) * kWideLanes, sizeof w);
          sums += __builtin_convertvector(w, Sums) * uint64_t(sub(x[from + i], a.x_zero));
        }
      });
      for (int64_t o = 0; o < min_of(kWideLanes, a.outputs - first); ++o)
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

void run_wide(const IntegerConvArgs& a) {
  if (a.x_type == BR_INT8) return run_wide_x<int8_t>(a);
  if (a.x_type == BR_INT16) return run_wide_x<int16_t>(a);
  return run_wide_x<int32_t>(a);
}

template <class Lanes>
void run_lanes(const IntegerConvArgs& a) {
  if (!fits_pairs(a, 2 * Lanes::kLanes)) return run_wide(a);
  return a.x_type == BR_INT8 ? run_pairs<Lanes, int8_t>(a) : run_pairs<Lanes, int16_t>(a);
}

template <class Lanes, AffineOfRows* kAffine>
bool run_lanes_affine(const IntegerConvArgs& a, const AffineArgs& affine, const uint8_t* prepared) {
  if (!fits_pairs(a, 2 * Lanes::kLanes) || kPixelsAtATime * a.outputs > kSumsOfSome) return false;
  if (a.x_type == BR_INT8) run_pairs_some<Lanes, int8_t>(a, affine, kAffine, prepared);
  else run_pairs_some<Lanes, int16_t>(a, affine, kAffine, prepared);
  return true;
}

template <class Lanes, AffineOfRows* kAffine>
constexpr IntegerConv integer_conv_with() {
  return {[](const IntegerConvArgs& a) { return derived_bytes_of(a, 2 * Lanes::kLanes); },
          derive_for<Lanes>,
          run_lanes<Lanes>,
          run_lanes_affine<Lanes, kAffine>,
          in_order_bytes,
          prepare_in_order};
}

}  // namespace
}  // namespace bitreplay
