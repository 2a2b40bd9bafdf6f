// Exponents of gradients: the twin of engine/arithmetic/quant.py, docs/law.md section 6.
//
// NumPy rounds a whole array of exact values; here the values of one sample are made twice, a tile at a time: once to
// find the largest, once to be rounded. `fill(at, count, tile)` makes them.
#pragma once
#include "arithmetic/elements.h"
#include "arithmetic/fixedpoint.h"
#include "arithmetic/tiles.h"

namespace bitreplay {

constexpr int64_t kNoGradient = -(int64_t(1) << 20);
constexpr int64_t kAlignBits = 60;

static inline int significant(int64_t bits) { return bits == 8 ? 8 : bits == 16 ? 16 : 24; }

// The least shift k >= 0 with round(largest / 2^k) < 2^(q - 1).
static inline int64_t quantising_shift(int64_t largest, int64_t bits) {
  int64_t shift = max_of(bit_length(largest) - (significant(bits) - 1), 0);
  return shift + (round_shift(largest, shift) > (int64_t(1) << (significant(bits) - 1)) - 1);
}

static inline int32_t quantised_exponent(int64_t largest, int64_t exponent, int64_t shift) {
  return int32_t(largest > 0 ? add(exponent, shift) : kNoGradient);
}

template <class Fill>
static inline void quantise_sample(Fill fill, int64_t size, int64_t exponent, int64_t bits, int type, void* stored,
                                   int64_t at, int32_t* new_exponent) {
  int64_t tile[kTile], largest = INT64_MIN;
  for (int64_t i = 0; i < size; i += kTile) {
    int64_t count = min_of(kTile, size - i);
    fill(i, count, tile);
    largest = largest_of(tile, count, largest);
  }
  int64_t shift = quantising_shift(largest, bits);
  for (int64_t i = 0; i < size; i += kTile) {
    int64_t count = min_of(kTile, size - i);
    fill(i, count, tile);
    round_tile(tile, count, shift);
    narrow(type, tile, count, stored, at + i);
  }
  *new_exponent = quantised_exponent(largest, exponent, shift);
}

// Two terms of one sample brought to one exponent: values[i] is rounded by shift[i], or counts as 0 where not live.
struct Alignment {
  int64_t exponent;
  int64_t shift[2];
  bool live[2];
};

static inline Alignment align(int64_t e0, int64_t bound0, int64_t e1, int64_t bound1) {
  Alignment a;
  a.live[0] = e0 > kNoGradient;
  a.live[1] = e1 > kNoGradient;
  int64_t top = max_of(a.live[0] ? add(e0, bound0) : kNoGradient, a.live[1] ? add(e1, bound1) : kNoGradient);
  a.exponent = top > kNoGradient ? top - kAlignBits : kNoGradient;
  a.shift[0] = a.live[0] ? sub(a.exponent, e0) : 0;
  a.shift[1] = a.live[1] ? sub(a.exponent, e1) : 0;
  return a;
}

// The common exponent of sums over the minibatch, |sums| < 2^bound; kNoGradient if no sample has a gradient.
static inline int64_t merged_exponent(const int32_t* exponents, int64_t samples, int64_t bound) {
  int64_t top = INT64_MIN;
  for (int64_t n = 0; n < samples; ++n) top = max_of(top, exponents[n]);
  return top <= kNoGradient ? kNoGradient : top + bound + bit_length(samples) - 62;
}

}  // namespace bitreplay
