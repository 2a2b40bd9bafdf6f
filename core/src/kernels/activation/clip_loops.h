// Loops of clip and clip_input_grad: engine/layers/clip.py.
#pragma once
#include "arithmetic/quant.h"
#include "arithmetic/rescale.h"
#include "arithmetic/sgd.h"
#include "kernels/lanes/gradient_lanes.h"
#include "machine/call.h"

namespace bitreplay {
namespace clip {
namespace {

enum { X, Y };
enum { X_ZERO, MANTISSA, SHIFT, Y_ZERO, LOW, HIGH };

int run(const Call& c) {
  const int64_t size = c.samples() * c.elements(X);
  const Rescaled rescaled = {c.attribute(X_ZERO),
                             c.attribute(MANTISSA),
                             {c.attribute(SHIFT), c.attribute(Y_ZERO), c.attribute(LOW), c.attribute(HIGH)}};
  if (rescale_bytes(rescaled, c.type(X), c.bytes(X), size, c.type(Y), c.bytes(Y))) return BR_OK;
  if (shift_words(rescaled, c.type(X), c.bytes(X), size, c.type(Y), c.bytes(Y))) return BR_OK;
  int64_t x[kTile];
  for (int64_t at = 0; at < size; at += kTile) {
    const int64_t count = min_of(kTile, size - at);
    widen(c.type(X), c.bytes(X), at, count, x);
    rescaled(x, count);
    narrow(c.type(Y), x, count, c.bytes(Y), at);
  }
  return BR_OK;
}

}  // namespace
}  // namespace clip

namespace clip_input_grad {
namespace {

enum { G, E, X, GX, EX };
enum { ABOVE, BELOW, MANTISSA, SHIFT, BITS };

#if BR_LANES32
// Stored numbers and a mantissa of 32 bits: products of 64, as in the loop below. An end beyond 32 bits is none.
template <class T, class S>
bool in_lanes(const Call& c, const T* g, const S* x) {
  const int64_t pixels = c.size(G, 0) * c.size(G, 1), channels = c.size(G, 2), size = pixels * channels;
  const int64_t low = -kInt32Max - 1, first = max_of(add(c.attribute(ABOVE), 1), low);
  const int64_t last = min_of(sub(c.attribute(BELOW), 1), kInt32Max), factor = c.attribute(MANTISSA);
  if (first > kInt32Max || last < low || factor != int32_t(factor)) return false;
  const Lanes min_x = all_lanes(int32_t(first)), max_x = all_lanes(int32_t(last)), none = all_lanes(0);
  const Lanes mantissa = all_lanes(int32_t(factor));
  for (int64_t n = 0; n < c.samples(); ++n, g += size, x += size) {
    auto make = [&](auto width, int64_t) {
      return [=](int64_t at) {
        const Lanes here = width.load(x + at);
        const Lanes passes = choose(min_x > here, none, width.load(g + at));
        return choose(here > max_x, none, passes) * mantissa;
      };
    };
    quantise_columns(make, pixels, channels, c.data<int32_t>(E)[n] - c.attribute(SHIFT), c.attribute(BITS),
                     c.data<T>(GX) + n * size, c.data<int32_t>(EX) + n);
  }
  return true;
}
bool in_lanes(const Call& c) {
  if (c.type(G) != c.type(GX)) return false;
  return with_stored(c.type(GX), [&](auto stored) {
    using T = decltype(stored);
    return with_stored(c.type(X), [&](auto x) { return in_lanes(c, c.data<T>(G), c.data<decltype(x)>(X)); });
  });
}
#else
bool in_lanes(const Call&) { return false; }
#endif

int run(const Call& c) {
  if (in_lanes(c)) return BR_OK;
  const int64_t size = c.elements(G), above = c.attribute(ABOVE), below = c.attribute(BELOW);
  const int64_t mantissa = c.attribute(MANTISSA);
  for (int64_t n = 0; n < c.samples(); ++n) {
    auto fill = [&](int64_t at, int64_t count, int64_t* tile) {
      int64_t x[kTile];
      widen(c.type(G), c.bytes(G), n * size + at, count, tile);
      widen(c.type(X), c.bytes(X), n * size + at, count, x);
      for (int64_t i = 0; i < count; ++i) tile[i] = mul(tile[i], ((x[i] > above) & (x[i] < below)) ? mantissa : 0);
    };
    quantise_sample(fill, size, c.data<int32_t>(E)[n] - c.attribute(SHIFT), c.attribute(BITS), c.type(GX), c.bytes(GX),
                    n * size, c.data<int32_t>(EX) + n);
  }
  return BR_OK;
}

}  // namespace
}  // namespace clip_input_grad

}  // namespace bitreplay
