// Loops of max_pool and max_pool_input_grad: engine/layers/max_pool.py.
#pragma once
#include "arithmetic/pixels.h"
#include "arithmetic/quant.h"
#include "arithmetic/rescale.h"
#include "arithmetic/sliding_window.h"
#include "machine/call.h"

namespace bitreplay {
namespace max_window {
namespace {

// Attributes window stride pad come first.
enum { WINDOW, STRIDE, PAD };
constexpr int64_t kUnbounded = int64_t(1) << 32;

}  // namespace
}  // namespace max_window

namespace max_pool {
using namespace max_window;
namespace {

enum { X, Y, PLACE };
enum { X_ZERO = 3, MANTISSA, SHIFT, Y_ZERO, LOW, HIGH };

constexpr int64_t kRun = 2048;  // neighbours that are compared at a time

// best[i] = the largest x[i] of `rows` by `columns` taps.
template <class T>
inline void largest_of_taps(const T* x, int64_t row_step, int64_t column_step, int64_t rows, int64_t columns,
                            int64_t count, T* best) {
  if (rows == 2 && columns == 2) {
    const T *a = x, *b = x + column_step, *d = x + row_step, *e = d + column_step;
    for (int64_t i = 0; i < count; ++i) {
      const T above = a[i] < b[i] ? b[i] : a[i], below = d[i] < e[i] ? e[i] : d[i];
      best[i] = above < below ? below : above;
    }
    return;
  }
  for (int64_t tap = 0; tap < rows * columns; ++tap) {
    const T* from = x + tap / columns * row_step + tap % columns * column_step;
    if (tap == 0)
      for (int64_t i = 0; i < count; ++i) best[i] = from[i];
    else
      for (int64_t i = 0; i < count; ++i) best[i] = best[i] < from[i] ? from[i] : best[i];
  }
}

template <class T>
int run_as(const Call& c) {
  const int64_t height = c.size(X, 0), width = c.size(X, 1), channels = c.size(X, 2);
  const int64_t out_w = c.size(Y, 1), pixels = c.size(Y, 0) * out_w, window = c.attribute(WINDOW);
  const int64_t stride = c.attribute(STRIDE), pad = c.attribute(PAD);
  const Rescaled rescaled = {c.attribute(X_ZERO),
                             c.attribute(MANTISSA),
                             {c.attribute(SHIFT), c.attribute(Y_ZERO), c.attribute(LOW), c.attribute(HIGH)}};
  uint8_t* const places = c.data<uint8_t>(PLACE);
  const bool bytes = sizeof(T) == 1 && c.type(Y) == BR_INT8;
  const ByteTable table(rescaled);
  const bool inside = !pad && (c.size(Y, 0) - 1) * stride + window <= height && (out_w - 1) * stride + window <= width;
  if (bytes && !places && inside) {  // neighbours that are one pixel apart are one run of numbers
    T best[kRun];
    const int64_t together = stride == 1 ? out_w : 1, run = together * channels;
    for (int64_t p = 0; p < c.samples() * pixels; p += together) {
      const int64_t row = p / pixels * height + p % pixels / out_w * stride;
      const T* x = c.data<T>(X) + (row * width + p % out_w * stride) * channels;
      for (int64_t at = 0; at < run; at += kRun) {
        const int64_t count = min_of(kRun, run - at);
        largest_of_taps(x + at, width * channels, channels, window, window, count, best);
        table.look_up(reinterpret_cast<const int8_t*>(best), count, c.data<int8_t>(Y) + p * channels + at);
      }
    }
    return BR_OK;
  }
  for (int64_t p = 0; p < c.samples() * pixels; ++p) {
    const int64_t out_row = p % pixels / out_w, out_column = p % out_w;
    const TapRange rows = taps_inside(out_row, stride, pad, window, height);
    const TapRange columns = taps_inside(out_column, stride, pad, window, width);
    const bool none = rows.first >= rows.last || columns.first >= columns.last;
    for (int64_t at = 0; at < channels; at += kTile) {
      const int64_t count = min_of(kTile, channels - at);
      T best[kTile] = {};
      T place[kTile] = {};
      int64_t y[kTile];
      for (int64_t row = rows.first; row < rows.last; ++row) {
        for (int64_t column = columns.first; column < columns.last; ++column) {
          const int64_t r = out_row * stride + row - pad, k = out_column * stride + column - pad;
          const T* x = c.data<T>(X) + ((p / pixels * height + r) * width + k) * channels + at;
          const bool first = row == rows.first && column == columns.first;
          const T here = T(row * window + column);
          if (places) {
            for (int64_t i = 0; i < count; ++i) place[i] = (first | (x[i] > best[i])) ? here : place[i];
          }
          if (first)
            for (int64_t i = 0; i < count; ++i) best[i] = x[i];
          else
            for (int64_t i = 0; i < count; ++i) best[i] = best[i] < x[i] ? x[i] : best[i];
        }
      }
      if (bytes && !none) {
        table.look_up(reinterpret_cast<const int8_t*>(best), count, c.data<int8_t>(Y) + p * channels + at);
      } else {
        for (int64_t i = 0; i < count; ++i) y[i] = none ? -kUnbounded : best[i];
        rescaled(y, count);
        narrow(c.type(Y), y, count, c.bytes(Y), p * channels + at);
      }
      for (int64_t i = 0; places && i < count; ++i) places[p * channels + at + i] = uint8_t(place[i]);
    }
  }
  return BR_OK;
}

int run(const Call& c) {
  if (c.type(X) == BR_INT8) return run_as<int8_t>(c);
  if (c.type(X) == BR_INT16) return run_as<int16_t>(c);
  return run_as<int32_t>(c);
}

}  // namespace
}  // namespace max_pool

namespace max_pool_input_grad {
using namespace max_window;
namespace {

enum { G, E, PLACE, GX, EX };
enum { MANTISSA = 3, SHIFT, BITS };

int run(const Call& c) {
  const int64_t width = c.size(GX, 1), channels = c.size(GX, 2), size = c.elements(GX);
  const int64_t out_h = c.size(G, 0), out_w = c.size(G, 1), window = c.attribute(WINDOW);
  const int64_t stride = c.attribute(STRIDE), pad = c.attribute(PAD);
  for (int64_t n = 0; n < c.samples(); ++n) {
    auto fill = [&](int64_t at, int64_t count, int64_t* tile) {
      for (int64_t i = 0; i < count; ++i) tile[i] = 0;
      over_pixels(at, count, channels, [&](int64_t pixel, int64_t channel, int64_t lanes, int64_t offset) {
        over_readers(pixel / width, window, stride, pad, out_h, [&](int64_t out_row, int64_t row) {
          over_readers(pixel % width, window, stride, pad, out_w, [&](int64_t out_column, int64_t column) {
            int64_t g[kTile];
            const int64_t from = n * c.elements(G) + (out_row * out_w + out_column) * channels + channel;
            const uint8_t* place = c.data<uint8_t>(PLACE) + from;
            widen(c.type(G), c.bytes(G), from, lanes, g);
            for (int64_t i = 0; i < lanes; ++i)
              if (place[i] == row * window + column)
                tile[offset + i] = add(tile[offset + i], mul(g[i], c.attribute(MANTISSA)));
          });
        });
      });
    };
    quantise_sample(fill, size, c.data<int32_t>(E)[n] - c.attribute(SHIFT), c.attribute(BITS), c.type(GX), c.bytes(GX),
                    n * size, c.data<int32_t>(EX) + n);
  }
  return BR_OK;
}

}  // namespace
}  // namespace max_pool_input_grad

}  // namespace bitreplay
