// Loops of pack_signs_above, rsign_input_grad and rsign_param_grad: engine/layers/rsign.py.
#pragma once
#include "arithmetic/packing.h"
#include "arithmetic/pixels.h"
#include "kernels/loops/second_gradient.h"
#include "kernels/sign/rsign_compare.h"
#include "kernels/sign/rsign_lanes.h"
#include "machine/call.h"

namespace bitreplay {
namespace pack_signs_above {
namespace {

enum { X, THRESHOLD, BITS };
enum { ZERO, POINT };

bool by_bounds(const Call& c) {
  const int64_t rows = c.samples() * c.size(X, 0) * c.size(X, 1);
  auto with_x = [&](const auto* x) {
    return pack_signs_above_bounds(rows, c.size(X, 2), x, c.data<int32_t>(THRESHOLD), c.attribute(ZERO),
                                   c.attribute(POINT), c.data<uint64_t>(BITS));
  };
  if (c.type(X) == BR_INT8) return with_x(c.data<int8_t>(X));
  return c.type(X) == BR_INT16 && with_x(c.data<int16_t>(X));
}

int run(const Call& c) {
  if (by_bounds(c)) return BR_OK;
  const int64_t channels = c.size(X, 2), words = c.size(BITS, 2), rows = c.samples() * c.size(X, 0) * c.size(X, 1);
  const int64_t zero = c.attribute(ZERO), point = c.attribute(POINT);
  int64_t x[kWord];
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t word = 0; word < words; ++word) {
      const int64_t first = word * kWord, lanes = min_of(kWord, channels - first);
      const int32_t* threshold = c.data<int32_t>(THRESHOLD) + first;
      widen(c.type(X), c.bytes(X), row * channels + first, lanes, x);
      uint64_t bits = 0;
      for (int64_t i = 0; i < lanes; ++i) bits |= uint64_t(left(sub(x[i], zero), point) >= threshold[i]) << i;
      c.data<uint64_t>(BITS)[row * words + word] = bits;
    }
  }
  return BR_OK;
}

}  // namespace
}  // namespace pack_signs_above

namespace rsign {
namespace {

// Roles g e x threshold and attributes that begin zero point peak, as both gradients have them.
enum { G, E, X, THRESHOLD };
enum { ZERO, POINT, PEAK };

// g = g max(0, peak - |z| slope) for `count` channels from `channel`.
inline void times_derivative(const Call& c, int64_t* g, const int64_t* x, int64_t channel, int64_t count, int slope) {
  const int64_t zero = c.attribute(ZERO), point = c.attribute(POINT), peak = c.attribute(PEAK);
  const int64_t mantissa = c.attribute(slope);
  const int32_t* threshold = c.data<int32_t>(THRESHOLD) + channel;
  int64_t down[kTile];
  for (int64_t i = 0; i < count; ++i)
    down[i] = mul(absolute(sub(left(sub(x[i], zero), point), threshold[i])), mantissa);
  round_tile(down, count, c.attribute(slope + 1));
  for (int64_t i = 0; i < count; ++i) g[i] = mul(g[i], max_of(0, sub(peak, down[i])));
}

#if BR_LANES32
inline RSignGradArgs grad_args(const Call& c, int slope) {
  const Position position = {c.attribute(ZERO), c.attribute(POINT), c.data<int32_t>(THRESHOLD)};
  return {c.samples(),        c.size(G, 0) * c.size(G, 1),
          c.size(G, 2),       c.data<int32_t>(G),
          c.data<int32_t>(E), Derivative(position, c.attribute(PEAK), c.attribute(slope), c.attribute(slope + 1))};
}
#endif

}  // namespace
}  // namespace rsign

namespace rsign_input_grad {
using namespace rsign;
namespace {

enum { OTHER = 4, OTHER_E, GX, EX };
enum { PEAK_SHIFT = 3, SLOPE_MANTISSA, SLOPE_SHIFT, BOUND, BITS, OTHER_FACTOR, OTHER_SHIFT, OTHER_BOUND };

#if BR_LANES32
bool in_lanes(const Call& c) {
  if (c.type(G) != BR_INT32 || c.type(X) == BR_INT32) return false;
  if (c.has(OTHER) && c.type(OTHER) != c.type(GX)) return false;
  const RSignGradArgs a = grad_args(c, SLOPE_MANTISSA);
  return with_stored(c.type(GX), [&](auto stored) {
    using T = decltype(stored);
    const Second<T> other = {c.data<T>(OTHER), c.data<int32_t>(OTHER_E), c.attribute(OTHER_FACTOR),
                             c.attribute(OTHER_SHIFT), c.attribute(OTHER_BOUND)};
    auto with_x = [&](const auto* x) {
      return rsign_input_grad_lanes(a, x, other, c.attribute(PEAK_SHIFT), c.attribute(BOUND), c.attribute(BITS),
                                    c.data<T>(GX), c.data<int32_t>(EX));
    };
    return c.type(X) == BR_INT8 ? with_x(c.data<int8_t>(X)) : with_x(c.data<int16_t>(X));
  });
}
#else
bool in_lanes(const Call&) { return false; }
#endif

int run(const Call& c) {
  if (in_lanes(c)) return BR_OK;
  const int64_t size = c.elements(G), channels = c.size(G, 2);
  for (int64_t n = 0; n < c.samples(); ++n) {
    auto first = [&](int64_t at, int64_t count, int64_t* tile) {
      int64_t x[kTile];
      widen(c.type(G), c.bytes(G), n * size + at, count, tile);
      widen(c.type(X), c.bytes(X), n * size + at, count, x);
      over_pixels(at, count, channels, [&](int64_t, int64_t channel, int64_t lanes, int64_t offset) {
        times_derivative(c, tile + offset, x + offset, channel, lanes, SLOPE_MANTISSA);
      });
    };
    quantise_with_second(c, n, first, c.data<int32_t>(E)[n] - c.attribute(PEAK_SHIFT), c.attribute(BOUND), OTHER,
                         OTHER_FACTOR, c.attribute(BITS), GX);
  }
  return BR_OK;
}

}  // namespace
}  // namespace rsign_input_grad

namespace rsign_param_grad {
using namespace rsign;
namespace {

enum { P = 4, PE };
enum { SLOPE_MANTISSA = 3, SLOPE_SHIFT, DOWN, BOUND };

#if BR_LANES32
bool in_lanes(const Call& c, int64_t common) {
  if (c.type(G) != BR_INT32 || c.type(X) == BR_INT32) return false;
  const RSignGradArgs a = grad_args(c, SLOPE_MANTISSA);
  if (c.type(X) == BR_INT8)
    return rsign_param_grad_lanes(a, c.data<int8_t>(X), c.attribute(DOWN), common, c.data<int64_t>(P));
  return rsign_param_grad_lanes(a, c.data<int16_t>(X), c.attribute(DOWN), common, c.data<int64_t>(P));
}
#else
bool in_lanes(const Call&, int64_t) { return false; }
#endif

int run(const Call& c) {
  const int64_t channels = c.size(G, 2), pixels = c.size(G, 0) * c.size(G, 1);
  const int32_t* e = c.data<int32_t>(E);
  const int64_t common = merged_exponent(e, c.samples(), c.attribute(BOUND));
  *c.data<int32_t>(PE) = int32_t(common);
  if (in_lanes(c, common)) return BR_OK;
  int64_t* p = c.data<int64_t>(P);
  for (int64_t i = 0; i < channels; ++i) p[i] = 0;
  for (int64_t at = 0; at < channels; at += kTile) {
    const int64_t count = min_of(kTile, channels - at);
    for (int64_t n = 0; n < c.samples(); ++n) {
      if (e[n] <= kNoGradient) continue;
      int64_t sums[kTile] = {}, g[kTile], x[kTile];
      for (int64_t pixel = n * pixels; pixel < (n + 1) * pixels; ++pixel) {
        widen(c.type(G), c.bytes(G), pixel * channels + at, count, g);
        widen(c.type(X), c.bytes(X), pixel * channels + at, count, x);
        for (int64_t i = 0; i < count; ++i) g[i] = sub(0, g[i]);
        times_derivative(c, g, x, at, count, SLOPE_MANTISSA);
        round_tile(g, count, c.attribute(DOWN));
        for (int64_t i = 0; i < count; ++i) sums[i] = add(sums[i], g[i]);
      }
      round_tile(sums, count, common - e[n]);
      for (int64_t i = 0; i < count; ++i) p[at + i] = add(p[at + i], sums[i]);
    }
  }
  return BR_OK;
}

}  // namespace
}  // namespace rsign_param_grad

}  // namespace bitreplay
