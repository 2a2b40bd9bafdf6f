// Loops of depthwise_conv, learned_depthwise and their gradients: engine/layers/depthwise_conv.py.
#pragma once
#include "arithmetic/pixels.h"
#include "arithmetic/quant.h"
#include "arithmetic/sgd.h"
#include "arithmetic/sliding_window.h"
#include "kernels/affine/affine_part.h"
#include "machine/call.h"

namespace bitreplay {
namespace depthwise {
namespace {

// Roles x and w, attributes x_zero stride pad down come first in the forward operations.
enum { X, W };
enum { X_ZERO, STRIDE, PAD, DOWN };
constexpr int64_t kMaxTaps = 25;

// Weight (channel + i, row, column) for i < count.
void widen_weights(const Call& c, int role, int64_t channel, int64_t row, int64_t column, int64_t count, int64_t* w) {
  const int64_t kernel = c.size(role, 1);
  for (int64_t i = 0; i < count; ++i)
    widen(c.type(role), c.bytes(role), ((channel + i) * kernel + row) * kernel + column, 1, w + i);
}

// Calls finish(pixel, channel, channels, sums) for all pixels and tiles of channels. The weights of a tile are brought
// in line once where there is room for all taps.
template <class Finish>
void over_sums(const Call& c, int sums, Finish finish) {
  constexpr int64_t tile = 64;
  const int64_t height = c.size(X, 0), width = c.size(X, 1), channels = c.size(X, 2), kernel = c.size(W, 1);
  const int64_t out_w = c.size(sums, 1), pixels = c.size(sums, 0) * out_w, taps = kernel * kernel;
  const int64_t stride = c.attribute(STRIDE), pad = c.attribute(PAD), zero = c.attribute(X_ZERO);
  const bool fits = taps <= kMaxTaps;
  int32_t weights[kMaxTaps][tile];
  auto load = [&](int64_t at, int64_t count, int64_t tap, int32_t* to) {
    int64_t wide[tile];
    widen_weights(c, W, at, tap / kernel, tap % kernel, count, wide);
    narrow_to<int32_t>(wide, count, to, 0);
  };
  for (int64_t at = 0; at < channels; at += tile) {
    const int64_t count = min_of(tile, channels - at);
    for (int64_t tap = 0; fits && tap < taps; ++tap) load(at, count, tap, weights[tap]);
    for (int64_t p = 0; p < c.samples() * pixels; ++p) {
      const int64_t out_row = p % pixels / out_w, out_column = p % out_w;
      const TapRange rows = taps_inside(out_row, stride, pad, kernel, height);
      const TapRange columns = taps_inside(out_column, stride, pad, kernel, width);
      int64_t x[tile], total[tile] = {};
      for (int64_t row = rows.first; row < rows.last; ++row) {
        for (int64_t column = columns.first; column < columns.last; ++column) {
          const int64_t r = out_row * stride + row - pad, k = out_column * stride + column - pad;
          const int32_t* w = weights[fits ? row * kernel + column : 0];
          if (!fits) load(at, count, row * kernel + column, weights[0]);
          widen(c.type(X), c.bytes(X), ((p / pixels * height + r) * width + k) * channels + at, count, x);
          for (int64_t i = 0; i < count; ++i) total[i] = add(total[i], mul(sub(x[i], zero), w[i]));
        }
      }
      finish(p, at, count, total);
    }
  }
}

}  // namespace
}  // namespace depthwise

namespace depthwise_conv {
using namespace depthwise;
namespace {

enum { SUMS = 2 };

constexpr int64_t kBlock = 16;  // channels whose sums stay in registers

// Calls finish(pixel, sums) for blocks of channels from `at` on, whose sums fit 32 bits.
template <int64_t kChannels, class Finish>
void run_block(const Call& c, int64_t at, Finish finish) {
  const int64_t height = c.size(X, 0), width = c.size(X, 1), channels = c.size(X, 2), kernel = c.size(W, 1);
  const int64_t out_h = c.size(SUMS, 0), out_w = c.size(SUMS, 1), stride = c.attribute(STRIDE), pad = c.attribute(PAD);
  const int16_t zero = int16_t(c.attribute(X_ZERO));
  int16_t weights[kMaxTaps][kChannels];
  for (int64_t tap = 0; tap < kernel * kernel; ++tap)
    for (int64_t i = 0; i < kChannels; ++i) weights[tap][i] = c.data<int8_t>(W)[(at + i) * kernel * kernel + tap];
  for (int64_t n = 0, pixel = 0; n < c.samples(); ++n) {
    const int8_t* image = c.data<int8_t>(X) + n * height * width * channels + at;
    for (int64_t out_row = 0; out_row < out_h; ++out_row) {
      const TapRange rows = taps_inside(out_row, stride, pad, kernel, height);
      for (int64_t out_column = 0; out_column < out_w; ++out_column, ++pixel) {
        const TapRange columns = taps_inside(out_column, stride, pad, kernel, width);
        int32_t sums[kChannels] = {};
        for (int64_t row = rows.first; row < rows.last; ++row) {
          const int64_t first = (out_row * stride + row - pad) * width + out_column * stride - pad;
          for (int64_t column = columns.first; column < columns.last; ++column) {
            const int8_t* x = image + (first + column) * channels;
            const int16_t* w = weights[row * kernel + column];
            for (int64_t i = 0; i < kChannels; ++i) sums[i] += int16_t(x[i] - zero) * w[i];
          }
        }
        finish(pixel, sums);
      }
    }
  }
}

bool exact_bytes(const Call& c) { return c.type(X) == BR_INT8 && c.type(W) == BR_INT8 && c.attribute(DOWN) == 0; }

DepthwiseConvArgs arguments(const Call& c) {
  return {.samples = c.samples(),
          .height = c.size(X, 0),
          .width = c.size(X, 1),
          .channels = c.size(X, 2),
          .kernel = c.size(W, 1),
          .out_h = c.size(SUMS, 0),
          .out_w = c.size(SUMS, 1),
          .x_zero = c.attribute(X_ZERO),
          .stride = c.attribute(STRIDE),
          .pad = c.attribute(PAD),
          .x = c.data<int8_t>(X),
          .w = c.data<int8_t>(W),
          .packed_weights = c.packed_weights(),
          .sums = c.data<int32_t>(SUMS),
          .affine = nullptr};
}

bool in_blocks(const Call& c) {
  return exact_bytes(c) && absolute(c.attribute(X_ZERO)) <= 1 << 14 && c.size(W, 1) * c.size(W, 1) <= kMaxTaps &&
         c.size(X, 2) % kBlock == 0;
}

// The sums go where they are stored; or what the affine makes of them is stored, and they are not.
void run_loops(const Call& c, const AffineArgs* affine) {
  const int64_t channels = c.size(X, 2);
  const auto finish = [&](int64_t pixel, int64_t at, int64_t count, const int32_t* sums) {
    if (affine) return c.kernels().affine(affine_part(*affine, sums, pixel, at, count));
    int32_t* const to = c.data<int32_t>(SUMS) + pixel * channels + at;
    for (int64_t i = 0; i < count; ++i) to[i] = sums[i];
  };
  if (in_blocks(c)) {
    for (int64_t at = 0; at < channels; at += kBlock)
      run_block<kBlock>(c, at, [&](int64_t pixel, const int32_t* sums) { finish(pixel, at, kBlock, sums); });
    return;
  }
  over_sums(c, SUMS, [&](int64_t pixel, int64_t at, int64_t count, int64_t* total) {
    int32_t sums[kTile];
    round_tile(total, count, c.attribute(DOWN));
    narrow(BR_INT32, total, count, sums, 0);
    finish(pixel, at, count, sums);
  });
}

// Bytes without rounding in the way of the instruction set's own kernel (depthwise_conv.h), where it has one.
int run(const Call& c) {
  if (!exact_bytes(c) || !c.packed_weights() || !c.kernels().depthwise_conv.run(arguments(c))) run_loops(c, nullptr);
  return BR_OK;
}

}  // namespace
}  // namespace depthwise_conv

namespace learned_depthwise {
using namespace depthwise;
namespace {

enum { EXPONENTS = 2, SUMS };
enum { LIMIT = 4 };

int run(const Call& c) {
  const int64_t limit = c.attribute(LIMIT), down = c.attribute(DOWN);
  over_sums(c, SUMS, [&](int64_t p, int64_t at, int64_t count, int64_t* total) {
    const int32_t* exponents = c.data<int32_t>(EXPONENTS) + at;
    for (int64_t i = 0; i < count; ++i) total[i] = saturate(round_shift(total[i], down - exponents[i]), -limit, limit);
    narrow(BR_INT32, total, count, c.bytes(SUMS), p * c.size(X, 2) + at);
  });
  return BR_OK;
}

}  // namespace
}  // namespace learned_depthwise

namespace depthwise_conv_input_grad {
namespace {

enum { G, E, WEIGHTS, EXPONENTS, GX, EX };
enum { STRIDE, PAD, ROOM, DOWN, BITS };

int run(const Call& c) {
  const int64_t width = c.size(GX, 1), channels = c.size(GX, 2), size = c.elements(GX), kernel = c.size(WEIGHTS, 1);
  const int64_t out_h = c.size(G, 0), out_w = c.size(G, 1), room = c.attribute(ROOM);
  const int64_t stride = c.attribute(STRIDE), pad = c.attribute(PAD);
  const int32_t* exponents = c.data<int32_t>(EXPONENTS);
  int64_t top = 0;
  for (int64_t i = 0; exponents && i < channels; ++i) top = i ? max_of(top, exponents[i]) : exponents[i];
  const int64_t common = exponents ? top - room : 0;
  for (int64_t n = 0; n < c.samples(); ++n) {
    auto fill = [&](int64_t at, int64_t count, int64_t* tile) {
      for (int64_t i = 0; i < count; ++i) tile[i] = 0;
      over_pixels(at, count, channels, [&](int64_t pixel, int64_t channel, int64_t lanes, int64_t offset) {
        over_readers(pixel / width, kernel, stride, pad, out_h, [&](int64_t out_row, int64_t row) {
          over_readers(pixel % width, kernel, stride, pad, out_w, [&](int64_t out_column, int64_t column) {
            int64_t g[kTile], w[kTile];
            widen(c.type(G), c.bytes(G), n * c.elements(G) + (out_row * out_w + out_column) * channels + channel, lanes,
                  g);
            depthwise::widen_weights(c, WEIGHTS, channel, row, column, lanes, w);
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

}  // namespace
}  // namespace depthwise_conv_input_grad

namespace learned_depthwise_update {
namespace {

enum { WEIGHTS, G, E, X };
enum { X_ZERO, STRIDE, PAD, BOUND, MANTISSA, SHIFT, NUMBER };

int run(const Call& c) {
  const int64_t height = c.size(X, 0), width = c.size(X, 1), channels = c.size(X, 2), kernel = c.size(WEIGHTS, 1);
  const int64_t out_h = c.size(G, 0), out_w = c.size(G, 1), stride = c.attribute(STRIDE), pad = c.attribute(PAD);
  const int32_t* e = c.data<int32_t>(E);
  const int64_t common = merged_exponent(e, c.samples(), c.attribute(BOUND));
  const Step step = step_of(c.attribute(MANTISSA), c.attribute(SHIFT), c.run, c.attribute(NUMBER));
  const Range own = c.share(channels, kLanesShared);
  for (int64_t tap = 0; tap < kernel * kernel; ++tap) {
    const int64_t row = tap / kernel, column = tap % kernel;
    for (int64_t at = own.first; at < own.last; at += kTile) {
      const int64_t count = min_of(kTile, own.last - at);
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

}  // namespace
}  // namespace learned_depthwise_update

}  // namespace bitreplay
