// Integer convolution with weights of 8 bits on ARM, four pixels at a time: what its kernels by dot products
// (integer_conv_dotprod.cc) and by products of bytes (integer_conv_neon.cc) share.
//
// Weights stand as [outputs / kOutputs][row / kRun][kOutputs][kRun], the row of a pixel's inputs as bytes, both with as
// many zeros behind as make them a multiple of 16.
//
//    bytes    sum (x - zero) w = sum x w - zero sum w; outside the map x = zero
//    int16    x = 256 high + low + 128 in signed bytes: sum x w = 256 sum high w + sum low w + 128 sum w
//
// All modulo 2^32, as in integer_conv_pairs.h. What is taken from a sum stands behind the weights, one number an
// output.
#pragma once
#include <arm_neon.h>

#include <cstring>

#include "arithmetic/fixedpoint.h"
#include "arithmetic/sliding_window.h"
#include "bitreplay.h"
#include "kernels/affine/affine_of_sums_neon.h"
#include "kernels/affine/affine_part.h"
#include "kernels/integer_conv/prepared_in_order.h"

namespace bitreplay {
namespace {

#define INLINE __attribute__((always_inline))

constexpr int64_t kStep = 16, kPixels = 4, kLongestByteRow = 2304, kSumsAtOnce = 8192, kFewSums = 1 << 16;

int64_t bytes_of_row(const IntegerConvArgs& a) { return a.kernel * a.kernel * a.channels; }
int64_t padded_row(const IntegerConvArgs& a) { return (bytes_of_row(a) + kStep - 1) / kStep * kStep; }

// Whether x and w have widths that bytes serve, and sums need no more than 32 bits.
bool fits_bytes(const IntegerConvArgs& a) {
  if (a.w_type != BR_INT8 || bytes_of_row(a) > kLongestByteRow) return false;
  if (a.x_type == BR_INT8 ? a.x_zero != int8_t(a.x_zero) : a.x_type != BR_INT16 || a.x_zero) return false;
  const int64_t largest = a.x_type == BR_INT8 ? 128 + absolute(a.x_zero) : 1 << 15;
  return a.down <= 0 || bytes_of_row(a) * largest * 128 < int64_t(1) << 31;
}

// The rows of four pixels, as bytes; those of int16 in two.
struct Gathered {
  alignas(64) int8_t low[kPixels][kLongestByteRow], high[kPixels][kLongestByteRow];
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

// Tile: kOutputs, kRun, and `sums` of that many outputs at four pixels, of their rows, weights and corrections, to rows
// that lie `apart` numbers from one another.
template <class Tile>
struct ByteConv {
  static int64_t groups_of(const IntegerConvArgs& a) { return (a.outputs + Tile::kOutputs - 1) / Tile::kOutputs; }
  static uint64_t bytes_of(const IntegerConvArgs& a) {
    return uint64_t(groups_of(a) * Tile::kOutputs * (padded_row(a) + 4));
  }

  static void pack_weights(const IntegerConvArgs& a, uint8_t* packed_weights) {
    const int64_t row = bytes_of_row(a), padded = padded_row(a), outputs = groups_of(a) * Tile::kOutputs;
    const int8_t* w = static_cast<const int8_t*>(a.w);
    int8_t* to = reinterpret_cast<int8_t*>(packed_weights);
    memset(to, 0, size_t(bytes_of(a)));
    for (int64_t o = 0; o < a.outputs; ++o) {
      int64_t sum = 0;
      for (int64_t k = 0; k < row; ++k) {
        sum += w[o * row + k];
        const int64_t run = o / Tile::kOutputs * padded / Tile::kRun + k / Tile::kRun;
        to[(run * Tile::kOutputs + o % Tile::kOutputs) * Tile::kRun + k % Tile::kRun] = w[o * row + k];
      }
      const int32_t corrections = int32_t(sum * (a.x_type == BR_INT8 ? -a.x_zero : 128));
      memcpy(packed_weights + outputs * padded + 4 * o, &corrections, sizeof corrections);
    }
  }

  template <class X>
  static void run(const IntegerConvArgs& a) {
    run<X>(a, 0, a.samples * a.out_h * a.out_w, a.sums);
  }

  // Into the affine, as many pixels at a time as stay in the cache. Where all of them would, and have a place, this
  // would only look at the affine's channels again and again, unless they are prepared.
  template <class X>
  static bool run_affine(const IntegerConvArgs& a, const AffineArgs& affine, const uint8_t* prepared) {
    int32_t sums[kSumsAtOnce];
    const int64_t pixels = a.samples * a.out_h * a.out_w, each = kSumsAtOnce / a.outputs / kPixels * kPixels;
    if (each == 0 || (a.sums && !prepared && pixels * a.outputs < kFewSums)) return false;
    for (int64_t first = 0; first < pixels; first += each) {
      const int64_t last = min_of(first + each, pixels);
      run<X>(a, first, last, sums);
      affine_of_rows_neon(affine_rows(affine, sums, first, last - first), prepared);
    }
    return true;
  }

  // Pixels from `begin` to `pixels`, to `sums`.
  template <class X>
  static void run(const IntegerConvArgs& a, int64_t begin, int64_t pixels, int32_t* sums) {
    const int64_t padded = padded_row(a);
    over_tiles<X>(a, begin, pixels, [&](const Part& part) INLINE {
      int32_t* to = sums + (part.pixel - begin) * a.outputs + part.output;
      if (a.down == 0 && part.outputs == Tile::kOutputs && part.pixels == kPixels)
        return Tile::template sums<X>(part.row, part.w, part.corrections, padded, to, a.outputs);
      int32_t results[kPixels * Tile::kOutputs];
      Tile::template sums<X>(part.row, part.w, part.corrections, padded, results, Tile::kOutputs);
      for (int64_t p = 0; p < part.pixels; ++p)
        for (int64_t o = 0; o < part.outputs; ++o)
          to[p * a.outputs + o] = int32_t(round_shift(results[p * Tile::kOutputs + o], a.down));
    });
  }

  // Up to kPixels pixels from number `pixel` on, up to kOutputs outputs from `output` on.
  struct Part {
    const Gathered& row;
    const int8_t* w;
    const int32_t* corrections;
    int64_t pixel, pixels, output, outputs;
  };
  template <class X, class Each>
  static void over_tiles(const IntegerConvArgs& a, int64_t begin, int64_t pixels, Each each) {
    constexpr int64_t outputs_at_once = Tile::kOutputs;
    const int64_t padded = padded_row(a);
    const int8_t* weights = reinterpret_cast<const int8_t*>(a.packed_weights);
    const int32_t* corrections =
        reinterpret_cast<const int32_t*>(a.packed_weights + groups_of(a) * outputs_at_once * padded);
    Gathered row;
    for (int64_t first = begin; first < pixels; first += kPixels) {
      const int64_t count = min_of(kPixels, pixels - first);
      for (int64_t p = 0; p < kPixels; ++p) {
        if (p < count) row.gather<X>(a, first + p, p);
        else row.x[p] = row.x[0], row.upper[p] = row.upper[0];
      }
      Part part = {row, weights, corrections, first, count, 0, outputs_at_once};
      for (; part.output < a.outputs; part.output += outputs_at_once) {
        part.outputs = min_of(outputs_at_once, a.outputs - part.output);
        each(part);
        part.w += outputs_at_once * padded, part.corrections += outputs_at_once;
      }
    }
  }
};

}  // namespace
}  // namespace bitreplay
