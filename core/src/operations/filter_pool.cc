// filter_pool and filter_pool_input_grad: engine/layers/filter_pool.py.
#include "kernels/taps.h"
#include "operations.h"
#include "pixels.h"
#include "quant.h"

namespace bitreplay {
namespace {

constexpr int64_t kLargestSize = 1 << 16;

// Attributes stride pad come first.
enum { STRIDE, PAD };

void check_windows(Checker& c, int map, int pooled, int kernel) {
  c.whole(kernel, type_bit(BR_INT32), 2);
  c.range(STRIDE, 1, kLargestSize);
  c.range(PAD, 0, kLargestSize);
  if (!c.ok()) return;
  c.require(c.size(kernel, 0) == c.size(kernel, 1) && c.size(kernel, 0) <= kLargestSize, "the kernel is not square");
  c.require(c.size(map, 2) == c.size(pooled, 2), "the channels differ");
  for (int axis = 0; axis < 2; ++axis)
    c.require(c.size(map, axis) <= kLargestSize && c.size(pooled, axis) <= kLargestSize, "the map is too large");
}

}  // namespace

namespace filter_pool {

enum { X, KERNEL, Y };
enum { X_ZERO = 2, MANTISSA, SHIFT, Y_ZERO, LOW, HIGH };

void check(Checker& c) {
  c.per_sample(X, kStored, 3);
  c.per_sample(Y, kStored, 3);
  check_windows(c, X, Y, KERNEL);
  c.value(X_ZERO);
  c.mantissa(MANTISSA);
  c.shift(SHIFT);
  c.value(Y_ZERO);
  c.value(LOW);
  c.value(HIGH);
}

int run(const Call& c) {
  const int64_t height = c.size(X, 0), width = c.size(X, 1), channels = c.size(X, 2), kernel = c.size(KERNEL, 0);
  const int64_t out_w = c.size(Y, 1), pixels = c.size(Y, 0) * out_w;
  const int64_t stride = c.attribute(STRIDE), pad = c.attribute(PAD);
  for (int64_t p = 0; p < c.samples() * pixels; ++p) {
    const int64_t out_row = p % pixels / out_w, out_column = p % out_w;
    const TapRange rows = taps_inside(out_row, stride, pad, kernel, height);
    const TapRange columns = taps_inside(out_column, stride, pad, kernel, width);
    for (int64_t at = 0; at < channels; at += kTile) {
      const int64_t count = least(kTile, channels - at);
      int64_t sums[kTile] = {}, x[kTile];
      for (int64_t row = rows.first; row < rows.last; ++row) {
        for (int64_t column = columns.first; column < columns.last; ++column) {
          const int64_t r = out_row * stride + row - pad, k = out_column * stride + column - pad;
          const int64_t weight = c.data<int32_t>(KERNEL)[row * kernel + column];
          widen(c.type(X), c.bytes(X), ((p / pixels * height + r) * width + k) * channels + at, count, x);
          for (int64_t i = 0; i < count; ++i) sums[i] = add(sums[i], mul(sub(x[i], c.attribute(X_ZERO)), weight));
        }
      }
      for (int64_t i = 0; i < count; ++i)
        sums[i] = saturate(add(round_shift(mul(sums[i], c.attribute(MANTISSA)), c.attribute(SHIFT)),
                               c.attribute(Y_ZERO)), c.attribute(LOW), c.attribute(HIGH));
      narrow(c.type(Y), sums, count, c.bytes(Y), p * channels + at);
    }
  }
  return BR_OK;
}

}  // namespace filter_pool

namespace filter_pool_input_grad {

enum { G, E, KERNEL, GX, EX };
enum { MANTISSA = 2, SHIFT, BITS };

void check(Checker& c) {
  c.per_sample(G, kStored, 3);
  c.exponents(E);
  c.per_sample(GX, kStored, 3);
  c.exponents(EX);
  check_windows(c, GX, G, KERNEL);
  c.mantissa(MANTISSA);
  c.shift(SHIFT);
  c.gradient_bits(BITS, GX);
}

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
            widen(c.type(G), c.bytes(G), n * c.elements(G) + (out_row * out_w + out_column) * channels + channel,
                  lanes, g);
            for (int64_t i = 0; i < lanes; ++i) tile[offset + i] = add(tile[offset + i], mul(g[i], weight));
          });
        });
      });
      for (int64_t i = 0; i < count; ++i) tile[i] = mul(tile[i], c.attribute(MANTISSA));
    };
    quantise_sample(fill, size, c.data<int32_t>(E)[n] - c.attribute(SHIFT), c.attribute(BITS), c.type(GX),
                    c.bytes(GX), n * size, c.data<int32_t>(EX) + n);
  }
  return BR_OK;
}

}  // namespace filter_pool_input_grad

extern const Operation kFilterPool = {"filter_pool", 32, "x kernel", "y",
                                      "stride pad x_zero mantissa shift y_zero low high", filter_pool::check,
                                      filter_pool::run, -1, nullptr, nullptr};
extern const Operation kFilterPoolInputGrad = {"filter_pool_input_grad", 33, "g e kernel", "gx ex",
                                               "stride pad mantissa shift bits", filter_pool_input_grad::check,
                                               filter_pool_input_grad::run, -1, nullptr, nullptr};

}  // namespace bitreplay
