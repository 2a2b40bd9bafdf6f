// depthwise_conv, learned_depthwise and their gradients: engine/layers/depthwise_conv.py.
#include "kernels/taps.h"
#include "operations.h"
#include "pixels.h"
#include "quant.h"
#include "sgd.h"

namespace bitreplay {
namespace {

constexpr int64_t kLargestSize = 1 << 16;

// Weights (channels, kernel, kernel) between two maps of as many channels.
void check_geometry(Checker& c, int weights, int map, int result, int stride, int pad) {
  c.range(stride, 1, kLargestSize);
  c.range(pad, 0, kLargestSize);
  if (!c.ok()) return;
  c.require(c.size(weights, 1) == c.size(weights, 2) && c.size(weights, 1) <= kLargestSize, "the kernel is not square");
  c.require(c.size(weights, 0) == c.size(map, 2) && c.size(weights, 0) == c.size(result, 2),
            "the weights do not fit the channels");
  for (int axis = 0; axis < 2; ++axis)
    c.require(c.size(map, axis) <= kLargestSize && c.size(result, axis) <= kLargestSize, "the map is too large");
}

// Weight (channel + i, row, column) for i < count.
void widen_weights(const Call& c, int role, int64_t channel, int64_t row, int64_t column, int64_t count, int64_t* w) {
  const int64_t kernel = c.size(role, 1);
  for (int64_t i = 0; i < count; ++i)
    widen(c.type(role), c.bytes(role), ((channel + i) * kernel + row) * kernel + column, 1, w + i);
}

// The sums of output pixel p, channels at .. at + count; roles x and w, attributes x_zero stride pad come first.
enum { X, W };
enum { X_ZERO, STRIDE, PAD, DOWN };

void sums_of(const Call& c, int sums, int64_t p, int64_t at, int64_t count, int64_t* total) {
  const int64_t height = c.size(X, 0), width = c.size(X, 1), channels = c.size(X, 2), kernel = c.size(W, 1);
  const int64_t out_w = c.size(sums, 1), pixels = c.size(sums, 0) * out_w;
  const int64_t out_row = p % pixels / out_w, out_column = p % out_w, stride = c.attribute(STRIDE), pad = c.attribute(PAD);
  const TapRange rows = taps_inside(out_row, stride, pad, kernel, height);
  const TapRange columns = taps_inside(out_column, stride, pad, kernel, width);
  int64_t x[kTile], w[kTile];
  for (int64_t i = 0; i < count; ++i) total[i] = 0;
  for (int64_t row = rows.first; row < rows.last; ++row) {
    for (int64_t column = columns.first; column < columns.last; ++column) {
      const int64_t r = out_row * stride + row - pad, k = out_column * stride + column - pad;
      widen(c.type(X), c.bytes(X), ((p / pixels * height + r) * width + k) * channels + at, count, x);
      widen_weights(c, W, at, row, column, count, w);
      for (int64_t i = 0; i < count; ++i) total[i] = add(total[i], mul(sub(x[i], c.attribute(X_ZERO)), w[i]));
    }
  }
}

void check_forward(Checker& c, int sums) {
  c.per_sample(X, kStored, 3);
  c.whole(W, kStored, 3);
  c.per_sample(sums, type_bit(BR_INT32), 3);
  check_geometry(c, W, X, sums, STRIDE, PAD);
  c.value(X_ZERO);
  c.shift(DOWN);
}

}  // namespace

namespace depthwise_conv {

enum { SUMS = 2 };

void check(Checker& c) { check_forward(c, SUMS); }

int run(const Call& c) {
  const int64_t channels = c.size(X, 2), pixels = c.samples() * c.size(SUMS, 0) * c.size(SUMS, 1);
  for (int64_t p = 0; p < pixels; ++p) {
    for (int64_t at = 0; at < channels; at += kTile) {
      const int64_t count = least(kTile, channels - at);
      int64_t total[kTile];
      sums_of(c, SUMS, p, at, count, total);
      for (int64_t i = 0; i < count; ++i) total[i] = round_shift(total[i], c.attribute(DOWN));
      narrow(BR_INT32, total, count, c.bytes(SUMS), p * channels + at);
    }
  }
  return BR_OK;
}

}  // namespace depthwise_conv

namespace learned_depthwise {

enum { EXPONENTS = 2, SUMS };
enum { LIMIT = 4 };

void check(Checker& c) {
  check_forward(c, SUMS);
  if (c.ok()) c.vector(EXPONENTS, BR_INT32, c.size(W, 0));
  c.range(LIMIT, 0, kInt32Max);
}

int run(const Call& c) {
  const int64_t channels = c.size(X, 2), pixels = c.samples() * c.size(SUMS, 0) * c.size(SUMS, 1);
  const int64_t limit = c.attribute(LIMIT);
  for (int64_t p = 0; p < pixels; ++p) {
    for (int64_t at = 0; at < channels; at += kTile) {
      const int64_t count = least(kTile, channels - at);
      int64_t total[kTile];
      sums_of(c, SUMS, p, at, count, total);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t shift = c.attribute(DOWN) - c.data<int32_t>(EXPONENTS)[at + i];
        total[i] = saturate(round_shift(total[i], shift), -limit, limit);
      }
      narrow(BR_INT32, total, count, c.bytes(SUMS), p * channels + at);
    }
  }
  return BR_OK;
}

}  // namespace learned_depthwise

namespace depthwise_conv_input_grad {

enum { G, E, WEIGHTS, EXPONENTS, GX, EX };
enum { STRIDE, PAD, ROOM, DOWN, BITS };

void check(Checker& c) {
  c.per_sample(G, kStored, 3);
  c.exponents(E);
  c.whole(WEIGHTS, kStored, 3);
  c.per_sample(GX, kStored, 3);
  c.exponents(EX);
  check_geometry(c, WEIGHTS, GX, G, STRIDE, PAD);
  if (c.has(EXPONENTS) && c.ok()) c.vector(EXPONENTS, BR_INT32, c.size(WEIGHTS, 0));
  c.range(ROOM, 0, 62);
  c.shift(DOWN);
  c.gradient_bits(BITS, GX);
}

int run(const Call& c) {
  const int64_t width = c.size(GX, 1), channels = c.size(GX, 2), size = c.elements(GX), kernel = c.size(WEIGHTS, 1);
  const int64_t out_h = c.size(G, 0), out_w = c.size(G, 1), room = c.attribute(ROOM);
  const int64_t stride = c.attribute(STRIDE), pad = c.attribute(PAD);
  const int32_t* exponents = c.data<int32_t>(EXPONENTS);
  int64_t top = 0;
  for (int64_t i = 0; exponents && i < channels; ++i) top = i ? most(top, exponents[i]) : exponents[i];
  const int64_t common = exponents ? top - room : 0;
  for (int64_t n = 0; n < c.samples(); ++n) {
    auto fill = [&](int64_t at, int64_t count, int64_t* tile) {
      for (int64_t i = 0; i < count; ++i) tile[i] = 0;
      over_pixels(at, count, channels, [&](int64_t pixel, int64_t channel, int64_t lanes, int64_t offset) {
        over_readers(pixel / width, kernel, stride, pad, out_h, [&](int64_t out_row, int64_t row) {
          over_readers(pixel % width, kernel, stride, pad, out_w, [&](int64_t out_column, int64_t column) {
            int64_t g[kTile], w[kTile];
            widen(c.type(G), c.bytes(G), n * c.elements(G) + (out_row * out_w + out_column) * channels + channel,
                  lanes, g);
            widen_weights(c, WEIGHTS, channel, row, column, lanes, w);
            for (int64_t i = 0; i < lanes; ++i) {
              if (exponents) g[i] = round_shift(left(g[i], room), top - exponents[channel + i]);
              tile[offset + i] = add(tile[offset + i], mul(g[i], w[i]));
            }
          });
        });
      });
    };
    quantise_sample(fill, size, c.data<int32_t>(E)[n] + (common - c.attribute(DOWN)), c.attribute(BITS), c.type(GX),
                    c.bytes(GX), n * size, c.data<int32_t>(EX) + n);
  }
  return BR_OK;
}

}  // namespace depthwise_conv_input_grad

namespace learned_depthwise_update {

enum { WEIGHTS, G, E, X };
enum { X_ZERO, STRIDE, PAD, BOUND, MANTISSA, SHIFT, NUMBER };

void check(Checker& c) {
  c.whole(WEIGHTS, type_bit(BR_INT32), 3);
  c.per_sample(G, kStored, 3);
  c.exponents(E);
  c.per_sample(X, kStored, 3);
  check_geometry(c, WEIGHTS, X, G, STRIDE, PAD);
  c.value(X_ZERO);
  c.range(BOUND, 0, 4096);
  c.mantissa(MANTISSA);
  c.shift(SHIFT);
  c.range(NUMBER, 0, kInt32Max);
}

int run(const Call& c) {
  const int64_t height = c.size(X, 0), width = c.size(X, 1), channels = c.size(X, 2), kernel = c.size(WEIGHTS, 1);
  const int64_t out_h = c.size(G, 0), out_w = c.size(G, 1), stride = c.attribute(STRIDE), pad = c.attribute(PAD);
  const int32_t* e = c.data<int32_t>(E);
  const int64_t common = merged_exponent(e, c.samples(), c.attribute(BOUND));
  const Step step = step_of(c.attribute(MANTISSA), c.attribute(SHIFT), c.run, c.attribute(NUMBER));
  for (int64_t tap = 0; tap < kernel * kernel; ++tap) {
    const int64_t row = tap / kernel, column = tap % kernel;
    for (int64_t at = 0; at < channels; at += kTile) {
      const int64_t count = least(kTile, channels - at);
      int64_t total[kTile] = {}, g[kTile], x[kTile];
      for (int64_t n = 0; n < c.samples(); ++n) {
        if (e[n] <= kNoGradient) continue;
        int64_t sums[kTile] = {};
        for (int64_t pixel = 0; pixel < out_h * out_w; ++pixel) {
          const int64_t r = pixel / out_w * stride + row - pad, k = pixel % out_w * stride + column - pad;
          if (r < 0 || r >= height || k < 0 || k >= width) continue;
          widen(c.type(G), c.bytes(G), (n * out_h * out_w + pixel) * channels + at, count, g);
          widen(c.type(X), c.bytes(X), ((n * height + r) * width + k) * channels + at, count, x);
          for (int64_t i = 0; i < count; ++i) sums[i] = add(sums[i], mul(g[i], sub(x[i], c.attribute(X_ZERO))));
        }
        for (int64_t i = 0; i < count; ++i) total[i] = add(total[i], round_shift(sums[i], common - e[n]));
      }
      for (int64_t i = 0; i < count; ++i) {
        const int64_t element = (at + i) * kernel * kernel + tap;
        int32_t* master = c.data<int32_t>(WEIGHTS) + element;
        *master = descend(*master, total[i], common, step, uint32_t(element));
      }
    }
  }
  return BR_OK;
}

}  // namespace learned_depthwise_update

extern const Operation kDepthwiseConv = {"depthwise_conv", 55, "x w", "sums", "x_zero stride pad down",
                                         depthwise_conv::check, depthwise_conv::run, -1, nullptr, nullptr};
extern const Operation kLearnedDepthwise = {"learned_depthwise", 56, "x w exponents", "sums",
                                            "x_zero stride pad down limit", learned_depthwise::check,
                                            learned_depthwise::run, -1, nullptr, nullptr};
extern const Operation kDepthwiseConvInputGrad = {
    "depthwise_conv_input_grad", 57, "g e w exponents?", "gx ex", "stride pad room down bits",
    depthwise_conv_input_grad::check, depthwise_conv_input_grad::run, -1, nullptr, nullptr};
extern const Operation kLearnedDepthwiseUpdate = {
    "learned_depthwise_update", 58, "weights g e x", "weights", "x_zero stride pad bound mantissa shift number",
    learned_depthwise_update::check, learned_depthwise_update::run, -1, nullptr, nullptr};

}  // namespace bitreplay
