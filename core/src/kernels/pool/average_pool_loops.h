// Loops of average_pool and its gradient: engine/layers/average_pool.py.
#pragma once
#include "arithmetic/quant.h"
#include "machine/call.h"

namespace bitreplay {
namespace average_pool {
namespace {

enum { X, Y };
enum { WINDOW_H, WINDOW_W, X_ZERO, MANTISSA, SHIFT, Y_ZERO, LOW, HIGH };

// A window has at most 2^32 pixels: few enough for 64 bits; fewer are summed in 32.
template <class T, class Sum>
int run_as(const Call& c) {
  const int64_t channels = c.size(X, 2), out_w = c.size(Y, 1), pixels = c.size(Y, 0) * out_w;
  const int64_t height = c.attribute(WINDOW_H), width = c.attribute(WINDOW_W);
  if (sizeof(Sum) == 4 && height * width * (int64_t(1) << (8 * sizeof(T) - 1)) > INT32_MAX)
    return run_as<T, int64_t>(c);
  const Rescaled rescaled = {mul(height * width, c.attribute(X_ZERO)),
                             c.attribute(MANTISSA),
                             {c.attribute(SHIFT), c.attribute(Y_ZERO), c.attribute(LOW), c.attribute(HIGH)}};
  for (int64_t p = 0; p < c.samples() * pixels; ++p) {
    const int64_t top = p / pixels * c.size(X, 0) + p % pixels / out_w * height, first = p % out_w * width;
    for (int64_t at = 0; at < channels; at += kTile) {
      const int64_t count = min_of(kTile, channels - at);
      Sum sums[kTile] = {};
      int64_t total[kTile];
      for (int64_t row = top; row < top + height; ++row) {
        for (int64_t column = first; column < first + width; ++column) {
          const T* x = c.data<T>(X) + (row * c.size(X, 1) + column) * channels + at;
          for (int64_t i = 0; i < count; ++i) sums[i] += x[i];
        }
      }
      for (int64_t i = 0; i < count; ++i) total[i] = sums[i];
      rescaled(total, count);
      narrow(c.type(Y), total, count, c.bytes(Y), p * channels + at);
    }
  }
  return BR_OK;
}

int run(const Call& c) {
  if (c.type(X) == BR_INT8) return run_as<int8_t, int32_t>(c);
  if (c.type(X) == BR_INT16) return run_as<int16_t, int32_t>(c);
  return run_as<int32_t, int64_t>(c);
}

}  // namespace
}  // namespace average_pool

namespace average_pool_input_grad {
namespace {

enum { G, E, GX, EX };
enum { WINDOW_H, WINDOW_W, MANTISSA, SHIFT, BITS };

// Every pixel of a window gets the same number: the row is rounded once and written wherever it belongs.
int run(const Call& c) {
  const int64_t channels = c.size(G, 2), out_h = c.size(G, 0), out_w = c.size(G, 1), size = c.elements(G);
  const int64_t height = c.size(GX, 0), width = c.size(GX, 1), mantissa = c.attribute(MANTISSA);
  const int64_t window_h = c.attribute(WINDOW_H), window_w = c.attribute(WINDOW_W);
  for (int64_t n = 0; n < c.samples(); ++n) {
    int64_t tile[kTile], largest = INT64_MIN;
    for (int64_t at = 0; at < size; at += kTile) {
      const int64_t count = min_of(kTile, size - at);
      widen(c.type(G), c.bytes(G), n * size + at, count, tile);
      for (int64_t i = 0; i < count; ++i) largest = max_of(largest, absolute(mul(tile[i], mantissa)));
    }
    const int64_t shift = quantising_shift(largest, c.attribute(BITS));
    const int64_t e = c.data<int32_t>(E)[n] - c.attribute(SHIFT);
    c.data<int32_t>(EX)[n] = quantised_exponent(largest, e, shift);
    const int64_t bytes = channels * element_bytes(c.type(GX));
    uint8_t* gx = c.bytes(GX) + n * height * width * bytes;
    for (int64_t pixel = 0; pixel < height * width; ++pixel) {
      const int64_t row = pixel / width / window_h, column = pixel % width / window_w;
      const int64_t first = row * window_h * width + column * window_w;  // the window's
      if (row >= out_h || column >= out_w) {
        __builtin_memset(gx + pixel * bytes, 0, size_t(bytes));
        continue;
      }
      if (pixel != first) {
        __builtin_memcpy(gx + pixel * bytes, gx + first * bytes, size_t(bytes));
        continue;
      }
      for (int64_t at = 0; at < channels; at += kTile) {
        const int64_t count = min_of(kTile, channels - at);
        widen(c.type(G), c.bytes(G), n * size + (row * out_w + column) * channels + at, count, tile);
        for (int64_t i = 0; i < count; ++i) tile[i] = mul(tile[i], mantissa);
        round_tile(tile, count, shift);
        narrow(c.type(GX), tile, count, gx, pixel * channels + at);
      }
    }
  }
  return BR_OK;
}

}  // namespace
}  // namespace average_pool_input_grad

}  // namespace bitreplay
