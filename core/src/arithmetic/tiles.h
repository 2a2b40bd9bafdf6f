// Loops over a tile of int64 that compilers turn into vectors: what layers do to activations besides their own formula.
#pragma once
#include "arithmetic/elements.h"
#include "arithmetic/fixedpoint.h"

namespace bitreplay {

// x >> s for 0 < s < 64. AVX2 shifts 64-bit numbers as unsigned only: a constant makes them so, another takes it back.
static inline int64_t shift_right(int64_t x, int64_t s) {
#if defined(__AVX2__) && !defined(__AVX512F__)
  constexpr uint64_t lowest = uint64_t(1) << 63;
  return int64_t(((uint64_t(x) + lowest) >> s) - (lowest >> s));
#else
  return x >> s;
#endif
}

// x = round_shift(x, s).
static inline void round_tile(int64_t* x, int64_t count, int64_t s) {
  if (s <= 0) {
    const int64_t up = s < -kLargestShift ? kLargestShift : -s;
    for (int64_t i = 0; i < count; ++i) x[i] = left(x[i], up);
  } else if (s > kLargestShift) {
    for (int64_t i = 0; i < count; ++i) x[i] = 0;
  } else {
    const int64_t half = int64_t(1) << (s - 1);
    for (int64_t i = 0; i < count; ++i) x[i] = shift_right(add(x[i], half - (x[i] < 0)), s);
  }
}

// s + a b; in 32 bits only where that fits.
static inline int32_t multiply_add(int32_t s, int32_t a, int32_t b) { return s + a * b; }
static inline int64_t multiply_add(int64_t s, int64_t a, int64_t b) { return add(s, mul(a, b)); }

// The largest |x|, at least `largest`.
static inline int64_t largest_of(const int64_t* x, int64_t count, int64_t largest) {
  for (int64_t i = 0; i < count; ++i) largest = max_of(largest, absolute(x[i]));
  return largest;
}

// From real values times 2^shift to stored numbers; tells how many left the range.
struct Stored {
  int64_t shift, zero, low, high;

  __attribute__((always_inline)) int64_t operator()(int64_t* x, int64_t count) const {
    round_tile(x, count, shift);
    const int64_t offset = zero, min_y = low, max_y = high;
    int64_t outside = 0;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t y = add(x[i], offset);
      x[i] = saturate(y, min_y, max_y);
      outside += y != x[i];
    }
    return outside;
  }
};

// From numbers of one scale and zero to stored numbers of another.
struct Rescaled {
  int64_t x_zero, mantissa;
  Stored stored;

  __attribute__((always_inline)) void operator()(int64_t* x, int64_t count) const {
    const int64_t from = x_zero, factor = mantissa;
    for (int64_t i = 0; i < count; ++i) x[i] = mul(sub(x[i], from), factor);
    stored(x, count);
  }
};

}  // namespace bitreplay
