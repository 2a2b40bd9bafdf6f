// Rounding, saturation and shifts of integers: the twin of engine/arithmetic/fixedpoint.py, docs/law.md sections 1
// and 2.
//
// Sums and products wrap modulo 2^64 as NumPy's do, so that no input is undefined behaviour. Functions are static:
// files compiled for an instruction set must not give the linker their copy of a shared inline function.
#pragma once
#include <cstdint>

namespace bitreplay {

constexpr int64_t kLargestShift = 62;

static inline int64_t add(int64_t a, int64_t b) { return int64_t(uint64_t(a) + uint64_t(b)); }
static inline int64_t sub(int64_t a, int64_t b) { return int64_t(uint64_t(a) - uint64_t(b)); }
static inline int64_t mul(int64_t a, int64_t b) { return int64_t(uint64_t(a) * uint64_t(b)); }
static inline int64_t left(int64_t a, int64_t s) { return int64_t(uint64_t(a) << s); }
static inline int64_t absolute(int64_t a) { return a < 0 ? sub(0, a) : a; }
static inline int64_t min_of(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max_of(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t saturate(int64_t x, int64_t low, int64_t high) { return x < low ? low : x > high ? high : x; }

// x / 2^s to nearest, ties away from zero; an exact left shift where s < 0.
static inline int64_t round_shift(int64_t x, int64_t s) {
  if (s <= 0) return left(x, s < -kLargestShift ? kLargestShift : -s);
  if (s > kLargestShift) return 0;
  return add(x, (int64_t(1) << (s - 1)) - (x < 0)) >> s;
}

// floor((x + r) / 2^s), r made of 32 random bits: the mean is x / 2^s.
static inline int64_t stochastic_shift(int64_t x, int64_t s, uint32_t random) {
  if (s <= 0) return left(x, s < -kLargestShift ? kLargestShift : -s);
  if (s > kLargestShift) {
    x >>= min_of(s - kLargestShift, 63);
    s = kLargestShift;
  }
  int64_t r = s >= 32 ? int64_t(random) << (s - 32) : int64_t(random >> (32 - s));
  return add(x, r) >> s;
}

// Bits of |x|: 0 for 0, 1 for 1, 8 for 255.
static inline int bit_length(int64_t x) {
  int64_t magnitude = absolute(x);
  return magnitude <= 0 ? 0 : 64 - __builtin_clzll(uint64_t(magnitude));
}

// The largest r with r^2 <= x, 0 <= x < 2^62.
static inline int64_t root_below(int64_t x) {
  int64_t root = 0;
  for (int64_t bit = int64_t(1) << 30; bit; bit >>= 1)
    if ((root + bit) * (root + bit) <= x) root += bit;
  return root;
}

// a / b rounded down, b > 0.
static inline int64_t divide_floor(int64_t a, int64_t b) { return a / b - (a % b < 0); }

}  // namespace bitreplay
