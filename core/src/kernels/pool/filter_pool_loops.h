// Loops of filter_pool and filter_pool_input_grad: engine/layers/filter_pool.py.
#pragma once
#include "arithmetic/pixels.h"
#include "arithmetic/quant.h"
#include "arithmetic/sliding_window.h"
#include "kernels/lanes/rescale_lanes.h"
#include "machine/call.h"

namespace bitreplay {
namespace filter_window {
namespace {

// Attributes stride pad come first.
enum { STRIDE, PAD };

}  // namespace
}  // namespace filter_window

namespace filter_pool {
using namespace filter_window;
namespace {

enum { X, KERNEL, Y };
enum { X_ZERO = 2, MANTISSA, SHIFT, Y_ZERO, LOW, HIGH };

// Bytes: is the sum of |x - zero| |weight| below 2^31, whatever x?
bool fits_32_bits(const Call& c) {
  const int64_t largest = 128 + absolute(c.attribute(X_ZERO));
  int64_t total = 0;
  for (int64_t i = 0; i < c.elements(KERNEL); ++i) total += absolute(c.data<int32_t>(KERNEL)[i]);
  return largest < 1 << 15 && total < 1 << 16;
}

constexpr int64_t kBlock = 64, kMaxTaps = 25;  // channels whose sums are held at a time

// Bytes to bytes where every sum fits 16 bits and its rescaling lanes.
bool run_words(const Call& c) {
  const int64_t height = c.size(X, 0), width = c.size(X, 1), channels = c.size(X, 2), kernel = c.size(KERNEL, 0);
  const int64_t out_h = c.size(Y, 0), out_w = c.size(Y, 1), stride = c.attribute(STRIDE), pad = c.attribute(PAD);
  if (c.type(X) != BR_INT8 || c.type(Y) != BR_INT8 || channels % kBlock || kernel * kernel > kMaxTaps) return false;
  const int64_t largest = 128 + absolute(c.attribute(X_ZERO));
  if (largest >= 1 << 15) return false;
  int16_t weights[kMaxTaps];
  int64_t bound = 0;
  for (int64_t tap = 0; tap < kernel * kernel; ++tap) {
    weights[tap] = int16_t(c.data<int32_t>(KERNEL)[tap]);
    bound = add(bound, mul(largest, absolute(c.data<int32_t>(KERNEL)[tap])));
  }
  const Rescaled rescaled = {
      0, c.attribute(MANTISSA), {c.attribute(SHIFT), c.attribute(Y_ZERO), c.attribute(LOW), c.attribute(HIGH)}};
  const RescaleLanes to_bytes(rescaled, bound);
  if (bound >= 1 << 15 || !to_bytes.fits) return false;
  const int16_t zero = int16_t(c.attribute(X_ZERO));
  int8_t* y = c.data<int8_t>(Y);
  for (int64_t n = 0; n < c.samples(); ++n) {
    const int8_t* image = c.data<int8_t>(X) + n * height * width * channels;
    for (int64_t out_row = 0; out_row < out_h; ++out_row) {
      const TapRange rows = taps_inside(out_row, stride, pad, kernel, height);
      for (int64_t out_column = 0; out_column < out_w; ++out_column, y += channels) {
        const TapRange columns = taps_inside(out_column, stride, pad, kernel, width);
        for (int64_t at = 0; at < channels; at += kBlock) {
          int16_t sums[kBlock] = {};
          for (int64_t row = rows.first; row < rows.last; ++row) {
            const int64_t first = (out_row * stride + row - pad) * width + out_column * stride - pad;
            for (int64_t column = columns.first; column < columns.last; ++column) {
              const int8_t* x = image + (first + column) * channels + at;
              const int16_t weight = weights[row * kernel + column];
              for (int64_t i = 0; i < kBlock; ++i) sums[i] = int16_t(sums[i] + int16_t(x[i] - zero) * weight);
            }
          }
          to_bytes(sums, kBlock, y + at);
        }
      }
    }
  }
  return true;
}

template <class T, class Sum>
int run_as(const Call& c) {
  const int64_t height = c.size(X, 0), width = c.size(X, 1), channels = c.size(X, 2), kernel = c.size(KERNEL, 0);
  const int64_t out_w = c.size(Y, 1), pixels = c.size(Y, 0) * out_w;
  const int64_t stride = c.attribute(STRIDE), pad = c.attribute(PAD);
  const Sum zero = Sum(c.attribute(X_ZERO));
  const Rescaled rescaled = {
      0, c.attribute(MANTISSA), {c.attribute(SHIFT), c.attribute(Y_ZERO), c.attribute(LOW), c.attribute(HIGH)}};
  for (int64_t p = 0; p < c.samples() * pixels; ++p) {
    const int64_t out_row = p % pixels / out_w, out_column = p % out_w;
    const TapRange rows = taps_inside(out_row, stride, pad, kernel, height);
    const TapRange columns = taps_inside(out_column, stride, pad, kernel, width);
    for (int64_t at = 0; at < channels; at += kTile) {
      const int64_t count = min_of(kTile, channels - at);
      Sum sums[kTile] = {};
      int64_t total[kTile];
      for (int64_t row = rows.first; row < rows.last; ++row) {
        for (int64_t column = columns.first; column < columns.last; ++column) {
          const int64_t r = out_row * stride + row - pad, k = out_column * stride + column - pad;
          const Sum weight = c.data<int32_t>(KERNEL)[row * kernel + column];
          const T* x = c.data<T>(X) + ((p / pixels * height + r) * width + k) * channels + at;
          for (int64_t i = 0; i < count; ++i) sums[i] = multiply_add(sums[i], Sum(x[i]) - zero, weight);
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
  if (run_words(c)) return BR_OK;
  if (c.type(X) == BR_INT8) return fits_32_bits(c) ? run_as<int8_t, int32_t>(c) : run_as<int8_t, int64_t>(c);
  if (c.type(X) == BR_INT16) return run_as<int16_t, int64_t>(c);
  return run_as<int32_t, int64_t>(c);
}

}  // namespace
}  // namespace filter_pool

namespace filter_pool_input_grad {
using namespace filter_window;
namespace {

enum { G, E, KERNEL, GX, EX };
enum { MANTISSA = 2, SHIFT, BITS };

int run(const Call& c) {
  const int64_t width = c.size(GX, 1), channels = c.size(GX, 2), size = c.elements(GX), kernel = c.size(KERNEL, 0);
  const int64_t out_h = c.size(G, 0), out_w = c.size(G, 1), stride = c.attribute(STRIDE), pad = c.attribute(PAD);
  for (int64_t n = 0; n < c.samples(); ++n) {
    auto fill = [&](int64_t at, int64_t count, int64_t* tile) {
      for (int64_t i = 0; i < count; ++i) tile[i] = 0;
      over_pixels(at, count, channels, [&](int64_t pixel, int64_t channel, int64_t lanes, int64_t offset) {
        over_readers(pixel / width, kernel, stride, pad, out_h, [&](int64_t out_row, int64_t row) {
          over_readers(pixel % width, kernel, stride, pad, out_w, [&](int64_t out_column, int64_t column) {
            int64_t g[kTile];
            const int64_t weight = c.data<int32_t>(KERNEL)[row * kernel + column];
            widen(c.type(G), c.bytes(G), n * c.elements(G) + (out_row * out_w + out_column) * channels + channel, lanes,
                  g);
            for (int64_t i = 0; i < lanes; ++i) tile[offset + i] = add(tile[offset + i], mul(g[i], weight));
          });
        });
      });
      for (int64_t i = 0; i < count; ++i) tile[i] = mul(tile[i], c.attribute(MANTISSA));
    };
    quantise_sample(fill, size, c.data<int32_t>(E)[n] - c.attribute(SHIFT), c.attribute(BITS), c.type(GX), c.bytes(GX),
                    n * size, c.data<int32_t>(EX) + n);
  }
  return BR_OK;
}

}  // namespace
}  // namespace filter_pool_input_grad

}  // namespace bitreplay
