// Numbers in 32-bit lanes and their products in 64-bit lanes, where the instruction set has them (BR_LANES32).
//
// Lanes   kLanes numbers of 32 bits; sums wrap.
// Wide    the same number of 64-bit numbers in two vectors, in an order of the instruction set's own.
// Whole   reads and writes kLanes neighbours; Rest the first few of them, and nothing behind.
//
// Everything is local to the file that includes it: loops are compiled once for each instruction set.
#pragma once
#include <cstdint>
#include <cstring>

#include "arithmetic/fixedpoint.h"

#if defined(__AVX512BW__) && defined(__AVX512DQ__)
#define BR_LANES32 1
#include "kernels/lanes/lanes32_avx512.h"
#elif defined(__AVX2__)
#define BR_LANES32 1
#include "kernels/lanes/lanes32_avx2.h"
#elif defined(__ARM_NEON) && defined(__aarch64__)
#define BR_LANES32 1
#include "kernels/lanes/lanes32_neon.h"
#elif defined(__wasm_simd128__)
#define BR_LANES32 1
#include "kernels/lanes/lanes32_wasm.h"
#else
#define BR_LANES32 0
#endif

#if BR_LANES32

namespace bitreplay {
namespace {

struct Whole {
  template <class T>
  Lanes load(const T* from) const {
    return load_lanes(from);
  }
  Wide load_wide(const int64_t* from) const { return bitreplay::load_wide(from); }
  template <class T>
  void store(T* to, Lanes x) const {
    store_lanes(to, x);
  }
  void store_wide(int64_t* to, Wide x) const { bitreplay::store_wide(to, x); }
  int64_t count() const { return kLanes; }
};

struct Rest {
  int64_t lanes;

  template <class T>
  Lanes load(const T* from) const {
    T all[kLanes] = {};
    memcpy(all, from, size_t(lanes) * sizeof(T));
    return load_lanes(all);
  }
  Wide load_wide(const int64_t* from) const {
    int64_t all[kLanes] = {};
    memcpy(all, from, size_t(lanes) * sizeof(int64_t));
    return bitreplay::load_wide(all);
  }
  template <class T>
  void store(T* to, Lanes x) const {
    T all[kLanes];
    store_lanes(all, x);
    memcpy(to, all, size_t(lanes) * sizeof(T));
  }
  void store_wide(int64_t* to, Wide x) const {
    int64_t all[kLanes];
    bitreplay::store_wide(all, x);
    memcpy(to, all, size_t(lanes) * sizeof(int64_t));
  }
  int64_t count() const { return lanes; }
};

// round_shift with one shift for all lanes (fixedpoint.h).
struct WideRound {
  int64_t shift;
  Wide half;

  explicit WideRound(int64_t s) : shift(s), half(all_wide(s > 0 && s <= kLargestShift ? int64_t(1) << (s - 1) : 0)) {}
  Wide operator()(Wide x) const {
    if (shift <= 0) return shift_left(x, min_of(-shift, kLargestShift));
    if (shift > kLargestShift) return all_wide(0);
    return shift_right(less_one_below(x, all_wide(0)) + half, shift);
  }
};

// round_shift where the shift is known not to be to the right.
struct WideLeft {
  int64_t places;

  Wide operator()(Wide x) const { return shift_left(x, places); }
};

// Calls with(round) with a rounding whose way is known, so that loops do not ask. Modules of WebAssembly stay small:
// one loop for both ways.
template <class With>
inline void with_round(int64_t shift, With with) {
#ifndef __wasm__
  if (shift <= 0) return with(WideLeft{min_of(-shift, kLargestShift)});
#endif
  with(WideRound(shift));
}

constexpr int64_t kRowsTogether = 16;  // rows of a map that stay in the first cache while its columns go through

// Columns of kLanes channels, a few rows at a time: body(Whole or Rest, first row, rows, first channel).
template <class Body>
inline void over_columns(int64_t rows, int64_t channels, Body body) {
  for (int64_t first = 0; first < rows; first += kRowsTogether) {
    const int64_t some = min_of(kRowsTogether, rows - first);
    int64_t channel = 0;
    for (; channel + kLanes <= channels; channel += kLanes) body(Whole(), first, some, channel);
    if (channel < channels) body(Rest{channels - channel}, first, some, channel);
  }
}

// z = (x - zero) 2^point - s for stored x and a learned s of each channel.
struct Position {
  int64_t zero, point;
  const int32_t* s;

  // Whether z and all on the way to it stay below `limit` <= 2^31 for every x of the stored type X.
  template <class X>
  bool below(int64_t limit, int64_t channels) const {
    if (point > 30 || absolute(zero) > int64_t(1) << 30) return false;
    int64_t reach = 0;
    for (int64_t i = 0; i < channels; ++i) reach = max_of(reach, absolute(s[i]));
    return reach + (((int64_t(1) << (8 * sizeof(X) - 1)) + absolute(zero)) << point) < limit;
  }
  // What is taken from x 2^point.
  template <class Width>
  Lanes offset(Width width, int64_t channel) const {
    return width.load(s + channel) + all_lanes(int32_t(left(zero, point)));
  }
};

}  // namespace
}  // namespace bitreplay

#endif
