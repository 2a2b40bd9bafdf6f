// average_pool and its gradient: engine/layers/average_pool.py.
#include "operations.h"
#include "quant.h"

namespace bitreplay {
namespace {

// `map` holds whole windows for every pixel of `pooled`.
void check_windows(Checker& c, int map, int pooled, int window_h, int window_w) {
  c.range(window_h, 1, 1 << 16);
  c.range(window_w, 1, 1 << 16);
  if (!c.ok()) return;
  c.require(c.size(map, 2) == c.size(pooled, 2), "the channels differ");
  c.require(c.size(pooled, 0) * c.attribute(window_h) <= c.size(map, 0) &&
                c.size(pooled, 1) * c.attribute(window_w) <= c.size(map, 1), "the windows do not fit the map");
}

}  // namespace

namespace average_pool {

enum { X, Y };
enum { WINDOW_H, WINDOW_W, X_ZERO, MANTISSA, SHIFT, Y_ZERO, LOW, HIGH };

void check(Checker& c) {
  c.per_sample(X, kStored, 3);
  c.per_sample(Y, kStored, 3);
  check_windows(c, X, Y, WINDOW_H, WINDOW_W);
  c.value(X_ZERO);
  c.mantissa(MANTISSA);
  c.shift(SHIFT);
  c.value(Y_ZERO);
  c.value(LOW);
  c.value(HIGH);
}

int run(const Call& c) {
  const int64_t channels = c.size(X, 2), out_w = c.size(Y, 1), pixels = c.size(Y, 0) * out_w;
  const int64_t height = c.attribute(WINDOW_H), width = c.attribute(WINDOW_W);
  for (int64_t p = 0; p < c.samples() * pixels; ++p) {
    const int64_t top = p / pixels * c.size(X, 0) + p % pixels / out_w * height, first = p % out_w * width;
    for (int64_t at = 0; at < channels; at += kTile) {
      const int64_t count = least(kTile, channels - at);
      int64_t sums[kTile] = {}, x[kTile];
      for (int64_t row = top; row < top + height; ++row) {
        for (int64_t column = first; column < first + width; ++column) {
          widen(c.type(X), c.bytes(X), (row * c.size(X, 1) + column) * channels + at, count, x);
          for (int64_t i = 0; i < count; ++i) sums[i] = add(sums[i], sub(x[i], c.attribute(X_ZERO)));
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

}  // namespace average_pool

namespace average_pool_input_grad {

enum { G, E, GX, EX };
enum { WINDOW_H, WINDOW_W, MANTISSA, SHIFT, BITS };

void check(Checker& c) {
  c.per_sample(G, kStored, 3);
  c.exponents(E);
  c.per_sample(GX, kStored, 3);
  c.exponents(EX);
  check_windows(c, GX, G, WINDOW_H, WINDOW_W);
  c.mantissa(MANTISSA);
  c.shift(SHIFT);
  c.gradient_bits(BITS, GX);
}

// Every pixel of a window gets the same number: the row is rounded once and written wherever it belongs.
int run(const Call& c) {
  const int64_t channels = c.size(G, 2), out_h = c.size(G, 0), out_w = c.size(G, 1), size = c.elements(G);
  const int64_t height = c.size(GX, 0), width = c.size(GX, 1), mantissa = c.attribute(MANTISSA);
  const int64_t window_h = c.attribute(WINDOW_H), window_w = c.attribute(WINDOW_W);
  for (int64_t n = 0; n < c.samples(); ++n) {
    int64_t tile[kTile], largest = INT64_MIN;
    for (int64_t at = 0; at < size; at += kTile) {
      const int64_t count = least(kTile, size - at);
      widen(c.type(G), c.bytes(G), n * size + at, count, tile);
      for (int64_t i = 0; i < count; ++i) largest = most(largest, absolute(mul(tile[i], mantissa)));
    }
    const int64_t shift = quantising_shift(largest, c.attribute(BITS));
    const int64_t e = c.data<int32_t>(E)[n] - c.attribute(SHIFT);
    c.data<int32_t>(EX)[n] = quantised_exponent(largest, e, shift);
    for (int64_t pixel = 0; pixel < height * width; ++pixel) {
      const int64_t row = pixel / width / window_h, column = pixel % width / window_w;
      const bool inside = row < out_h && column < out_w;
      for (int64_t at = 0; at < channels; at += kTile) {
        const int64_t count = least(kTile, channels - at);
        if (inside) widen(c.type(G), c.bytes(G), n * size + (row * out_w + column) * channels + at, count, tile);
        for (int64_t i = 0; i < count; ++i) tile[i] = inside ? round_shift(mul(tile[i], mantissa), shift) : 0;
        narrow(c.type(GX), tile, count, c.bytes(GX), (n * height * width + pixel) * channels + at);
      }
    }
  }
  return BR_OK;
}

}  // namespace average_pool_input_grad

extern const Operation kAveragePool = {"average_pool", 30, "x", "y",
                                       "window_h window_w x_zero mantissa shift y_zero low high", average_pool::check,
                                       average_pool::run, -1, nullptr, nullptr};
extern const Operation kAveragePoolInputGrad = {"average_pool_input_grad", 31, "g e", "gx ex",
                                                "window_h window_w mantissa shift bits", average_pool_input_grad::check,
                                                average_pool_input_grad::run, -1, nullptr, nullptr};

}  // namespace bitreplay
