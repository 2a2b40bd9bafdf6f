// Loops of pack_signs_clipped and clipped_sign_input_grad: engine/layers/clipped_sign.py.
#pragma once
#include "arithmetic/packing.h"
#include "arithmetic/pixels.h"
#include "kernels/lanes/gradient_lanes.h"
#include "kernels/loops/second_gradient.h"
#include "machine/call.h"

namespace bitreplay {
namespace pack_signs_clipped {
namespace {

enum { X, BITS, MASK };
enum { ZERO, LIMIT };

#if BR_LANES32
// In 32-bit lanes where x, zero and limit have at most 24 bits: bits and mask of `kLanes` channels at a time.
template <class T>
bool in_lanes(const Call& c, const T* x) {
  constexpr int64_t max_value = 1 << 24;
  const int64_t channels = c.size(X, 2), words = c.size(BITS, 2), rows = c.samples() * c.size(X, 0) * c.size(X, 1);
  const int64_t zero = c.attribute(ZERO), limit = c.attribute(LIMIT);
  if (absolute(zero) > max_value || absolute(limit) > max_value) return false;
  const Lanes below = all_lanes(int32_t(zero - 1)), outside = all_lanes(int32_t(limit + 1)),
              at = all_lanes(int32_t(zero));
  for (int64_t row = 0; row < rows; ++row, x += channels) {
    for (int64_t word = 0; word < words; ++word) {
      const int64_t first = word * kWord, lanes = min_of(kWord, channels - first);
      uint64_t bits = 0, mask = 0;
      auto take = [&](auto width, int64_t i) {
        const Lanes here = width.load(x + first + i);
        bits |= uint64_t(bits_where(here > below)) << i;
        mask |= uint64_t(bits_where(outside > magnitude(here - at))) << i;
      };
      int64_t i = 0;
      for (; i + kLanes <= lanes; i += kLanes) take(Whole(), i);
      if (i < lanes) take(Rest{lanes - i}, i);
      const uint64_t real = ~uint64_t(0) >> (kWord - lanes);
      c.data<uint64_t>(BITS)[row * words + word] = bits & real;
      c.data<uint64_t>(MASK)[row * words + word] = mask & real;
    }
  }
  return true;
}
bool in_lanes(const Call& c) {
  if (c.type(X) == BR_INT8) return in_lanes(c, c.data<int8_t>(X));
  return c.type(X) == BR_INT16 && in_lanes(c, c.data<int16_t>(X));
}
#else
bool in_lanes(const Call&) { return false; }
#endif

int run(const Call& c) {
  if (in_lanes(c)) return BR_OK;
  const int64_t channels = c.size(X, 2), words = c.size(BITS, 2), rows = c.samples() * c.size(X, 0) * c.size(X, 1);
  int64_t x[kWord];
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t word = 0; word < words; ++word) {
      const int64_t lanes = min_of(kWord, channels - word * kWord);
      uint64_t bits = 0, mask = 0;
      widen(c.type(X), c.bytes(X), row * channels + word * kWord, lanes, x);
      for (int64_t i = 0; i < lanes; ++i) {
        const int64_t distance = sub(x[i], c.attribute(ZERO));
        bits |= uint64_t(distance >= 0) << i;
        mask |= uint64_t(absolute(distance) <= c.attribute(LIMIT)) << i;
      }
      c.data<uint64_t>(BITS)[row * words + word] = bits;
      c.data<uint64_t>(MASK)[row * words + word] = mask;
    }
  }
  return BR_OK;
}

}  // namespace
}  // namespace pack_signs_clipped

namespace clipped_sign_input_grad {
namespace {

enum { G, E, MASK, OTHER, OTHER_E, GX, EX };
enum { FACTOR, SHIFT, BOUND, BITS, OTHER_FACTOR, OTHER_SHIFT, OTHER_BOUND };

#if BR_LANES32
// Gradients of 32 bits and factors of 32: products of 64 bits, as in the loop below.
template <class T>
bool in_lanes(const Call& c, const T* second) {
  const int64_t pixels = c.size(G, 0) * c.size(G, 1), channels = c.size(G, 2), words = c.size(MASK, 2);
  const int64_t size = pixels * channels, other_factor = second ? c.attribute(OTHER_FACTOR) : 0;
  if (c.attribute(FACTOR) != int32_t(c.attribute(FACTOR)) || other_factor != int32_t(other_factor)) return false;
  const Lanes factor = all_lanes(int32_t(c.attribute(FACTOR))), factor2 = all_lanes(int32_t(other_factor));
  for (int64_t n = 0; n < c.samples(); ++n) {
    const int64_t e = c.data<int32_t>(E)[n] - c.attribute(SHIFT);
    Alignment terms = {e, {0, 0}, {true, false}};
    if (second)
      terms = align(e, c.attribute(BOUND), c.data<int32_t>(OTHER_E)[n] - c.attribute(OTHER_SHIFT),
                    c.attribute(OTHER_BOUND));
    const WideRound round(terms.shift[0]), round2(terms.shift[1]);
    const int32_t* g = c.data<int32_t>(G) + n * size;
    const T* g2 = second + (second ? n * size : 0);
    const uint64_t* mask = c.data<uint64_t>(MASK) + n * pixels * words;
    auto make = [&](auto width, int64_t channel) {
      const uint64_t* word = mask + channel / kWord;
      const int64_t place = channel % kWord;
      return [=, &round, &round2](int64_t at) {
        const uint32_t bits = terms.live[0] ? uint32_t(word[at / channels * words] >> place) : 0;
        const Wide value = round(choose(where_bits(bits), width.load(g + at), all_lanes(0)) * factor);
        return terms.live[1] ? value + round2(width.load(g2 + at) * factor2) : value;
      };
    };
    quantise_columns(make, pixels, channels, terms.exponent, c.attribute(BITS), c.data<T>(GX) + n * size,
                     c.data<int32_t>(EX) + n);
  }
  return true;
}
bool in_lanes(const Call& c) {
  if (c.type(G) != BR_INT32 || (c.has(OTHER) && c.type(OTHER) != c.type(GX))) return false;
  return with_stored(c.type(GX), [&](auto stored) {
    using T = decltype(stored);
    return in_lanes<T>(c, c.has(OTHER) ? c.data<T>(OTHER) : nullptr);
  });
}
#else
bool in_lanes(const Call&) { return false; }
#endif

int run(const Call& c) {
  if (in_lanes(c)) return BR_OK;
  const int64_t channels = c.size(G, 2), words = c.size(MASK, 2), size = c.elements(G);
  const int64_t factor = c.attribute(FACTOR);
  for (int64_t n = 0; n < c.samples(); ++n) {
    const uint64_t* mask = c.data<uint64_t>(MASK) + n * c.elements(MASK);
    auto first = [&](int64_t at, int64_t count, int64_t* tile) {
      widen(c.type(G), c.bytes(G), n * size + at, count, tile);
      over_pixels(at, count, channels, [&](int64_t pixel, int64_t channel, int64_t lanes, int64_t offset) {
        for (int64_t i = 0; i < lanes; ++i) {
          const uint64_t word = mask[pixel * words + (channel + i) / kWord];
          tile[offset + i] = mul(tile[offset + i], word >> ((channel + i) % kWord) & 1 ? factor : 0);
        }
      });
    };
    quantise_with_second(c, n, first, c.data<int32_t>(E)[n] - c.attribute(SHIFT), c.attribute(BOUND), OTHER,
                         OTHER_FACTOR, c.attribute(BITS), GX);
  }
  return BR_OK;
}

}  // namespace
}  // namespace clipped_sign_input_grad

}  // namespace bitreplay
