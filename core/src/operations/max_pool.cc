// max_pool and max_pool_input_grad: engine/layers/max_pool.py.
#include "kernels/taps.h"
#include "operations.h"
#include "pixels.h"
#include "quant.h"

namespace bitreplay {
namespace {

constexpr int64_t kLargestSize = 1 << 16, kUnbounded = int64_t(1) << 32;

// Attributes window stride pad come first.
enum { WINDOW, STRIDE, PAD };

void check_windows(Checker& c, int map, int pooled) {
  c.range(WINDOW, 1, 15);
  c.range(STRIDE, 1, kLargestSize);
  c.range(PAD, 0, kLargestSize);
  if (!c.ok()) return;
  c.require(c.size(map, 2) == c.size(pooled, 2), "the channels differ");
  for (int axis = 0; axis < 2; ++axis)
    c.require(c.size(map, axis) <= kLargestSize && c.size(pooled, axis) <= kLargestSize, "the map is too large");
}

}  // namespace

namespace max_pool {

enum { X, Y, PLACE };
enum { X_ZERO = 3, MANTISSA, SHIFT, Y_ZERO, LOW, HIGH };

void check(Checker& c) {
  c.per_sample(X, kStored, 3);
  c.per_sample(Y, kStored, 3);
  if (c.has(PLACE)) {
    c.per_sample(PLACE, type_bit(BR_UINT8), 3);
    c.same_shape(Y, PLACE);
  }
  check_windows(c, X, Y);
  c.value(X_ZERO);
  c.mantissa(MANTISSA);
  c.shift(SHIFT);
  c.value(Y_ZERO);
  c.value(LOW);
  c.value(HIGH);
}

int run(const Call& c) {
  const int64_t height = c.size(X, 0), width = c.size(X, 1), channels = c.size(X, 2);
  const int64_t out_w = c.size(Y, 1), pixels = c.size(Y, 0) * out_w, window = c.attribute(WINDOW);
  const int64_t stride = c.attribute(STRIDE), pad = c.attribute(PAD);
  for (int64_t p = 0; p < c.samples() * pixels; ++p) {
    const int64_t out_row = p % pixels / out_w, out_column = p % out_w;
    const TapRange rows = taps_inside(out_row, stride, pad, window, height);
    const TapRange columns = taps_inside(out_column, stride, pad, window, width);
    for (int64_t at = 0; at < channels; at += kTile) {
      const int64_t count = least(kTile, channels - at);
      int64_t best[kTile], x[kTile];
      uint8_t place[kTile] = {};
      for (int64_t i = 0; i < count; ++i) best[i] = -kUnbounded;
      for (int64_t row = rows.first; row < rows.last; ++row) {
        for (int64_t column = columns.first; column < columns.last; ++column) {
          const int64_t r = out_row * stride + row - pad, k = out_column * stride + column - pad;
          widen(c.type(X), c.bytes(X), ((p / pixels * height + r) * width + k) * channels + at, count, x);
          for (int64_t i = 0; i < count; ++i) {
            if (x[i] <= best[i]) continue;
            best[i] = x[i];
            place[i] = uint8_t(row * window + column);
          }
        }
      }
      for (int64_t i = 0; i < count; ++i) {
        const int64_t y = round_shift(mul(sub(best[i], c.attribute(X_ZERO)), c.attribute(MANTISSA)), c.attribute(SHIFT));
        best[i] = saturate(add(y, c.attribute(Y_ZERO)), c.attribute(LOW), c.attribute(HIGH));
        if (c.has(PLACE)) c.data<uint8_t>(PLACE)[p * channels + at + i] = place[i];
      }
      narrow(c.type(Y), best, count, c.bytes(Y), p * channels + at);
    }
  }
  return BR_OK;
}

}  // namespace max_pool

namespace max_pool_input_grad {

enum { G, E, PLACE, GX, EX };
enum { MANTISSA = 3, SHIFT, BITS };

void check(Checker& c) {
  c.per_sample(G, kStored, 3);
  c.exponents(E);
  c.per_sample(PLACE, type_bit(BR_UINT8), 3);
  c.same_shape(G, PLACE);
  c.per_sample(GX, kStored, 3);
  c.exponents(EX);
  check_windows(c, GX, G);
  c.mantissa(MANTISSA);
  c.shift(SHIFT);
  c.gradient_bits(BITS, GX);
}

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
    quantise_sample(fill, size, c.data<int32_t>(E)[n] - c.attribute(SHIFT), c.attribute(BITS), c.type(GX),
                    c.bytes(GX), n * size, c.data<int32_t>(EX) + n);
  }
  return BR_OK;
}

}  // namespace max_pool_input_grad

extern const Operation kMaxPool = {"max_pool", 160, "x", "y place?",
                                   "window stride pad x_zero mantissa shift y_zero low high", max_pool::check,
                                   max_pool::run, -1, nullptr, nullptr};
extern const Operation kMaxPoolInputGrad = {"max_pool_input_grad", 161, "g e place", "gx ex",
                                            "window stride pad mantissa shift bits", max_pool_input_grad::check,
                                            max_pool_input_grad::run, -1, nullptr, nullptr};

}  // namespace bitreplay
