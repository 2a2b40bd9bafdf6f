// One step of a row of latent weights, and their signs, in plain C++: what every instruction set falls back to.
#pragma once
#include "arithmetic/packing.h"
#include "kernels/latent_weights/latent_update.h"

namespace bitreplay {

// The step of 31-bit sums: change = floor((sum * mantissa + random bits) / 2^shift), one shift for all.
struct NarrowStep {
  bool serves;  // the shift is within 1 .. 62 and the mantissa fits 32 bits
  int64_t mantissa, shift, random_up, random_down;
};

static inline NarrowStep narrow_step(const LatentUpdateArgs& a) {
  const int64_t mantissa = a.step.mantissa, shift = sub(a.step.shift, sub(a.top, a.up));
  const bool serves = shift >= 1 && shift <= kLargestShift && mantissa == int32_t(mantissa);
  return {serves, mantissa, shift, max_of(shift - 32, 0), max_of(32 - shift, 0)};
}

static inline int64_t narrow_change(const NarrowStep& step, int32_t sum, uint32_t random) {
  return (sum * step.mantissa + ((int64_t(random) << step.random_up) >> step.random_down)) >> step.shift;
}

// change(i): what the step takes from element i, as int64, or as int32 below 2^31 - 2^15.
template <class T, class Change>
static inline void step_stored(T* latent, int64_t count, int64_t high, Change change) {
  if (sizeof(change(0)) == 4 && sizeof(T) < 4) {  // a loop that compilers turn into vectors
    const int32_t end = int32_t(high);
    for (int64_t i = 0; i < count; ++i) {
      const int32_t moved = latent[i] - int32_t(change(i));
      latent[i] = T(moved < -end - 1 ? -end - 1 : moved > end ? end : moved);
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) latent[i] = T(saturate(sub(latent[i], change(i)), -high - 1, high));
}

template <class Change>
static inline void step_halves(uint8_t* latent, int64_t count, Change change) {
  for (int64_t i = 0; i < count; i += 2) {
    const int64_t low = saturate(sub(((latent[i / 2] & 15) ^ 8) - 8, change(i)), -8, 7);
    const int64_t high = i + 1 < count ? saturate(sub(((latent[i / 2] >> 4) ^ 8) - 8, change(i + 1)), -8, 7) : 0;
    latent[i / 2] = uint8_t((low & 15) | (high & 15) << 4);
  }
}

template <class Change>
static inline void step_bits(const LatentUpdateArgs& a, int64_t row, Change change) {
  const int64_t at = row * a.channels, high = (int64_t(1) << (a.bits - 1)) - 1;
  switch (a.bits) {
    case 4: return step_halves(static_cast<uint8_t*>(a.latent) + row * ((a.channels + 1) / 2), a.channels, change);
    case 8: return step_stored(static_cast<int8_t*>(a.latent) + at, a.channels, high, change);
    case 16: return step_stored(static_cast<int16_t*>(a.latent) + at, a.channels, high, change);
    default: return step_stored(static_cast<int32_t*>(a.latent) + at, a.channels, high, change);
  }
}

// Of one weight.
static inline void step_one(const LatentUpdateArgs& a, int64_t row, int64_t i, int64_t change) {
  const int64_t at = row * a.channels + i, high = (int64_t(1) << (a.bits - 1)) - 1;
  const auto moved = [&](int64_t before) { return saturate(sub(before, change), -high - 1, high); };
  if (a.bits == 4) {
    uint8_t& pair = static_cast<uint8_t*>(a.latent)[row * ((a.channels + 1) / 2) + i / 2];
    const int64_t place = i % 2 * 4, value = moved((((pair >> place) & 15) ^ 8) - 8);
    pair = uint8_t((pair & (0xF0 >> place)) | (value & 15) << place);
  } else if (a.bits == 8) {
    int8_t& latent = static_cast<int8_t*>(a.latent)[at];
    latent = int8_t(moved(latent));
  } else if (a.bits == 16) {
    int16_t& latent = static_cast<int16_t*>(a.latent)[at];
    latent = int16_t(moved(latent));
  } else {
    int32_t& latent = static_cast<int32_t*>(a.latent)[at];
    latent = int32_t(moved(latent));
  }
}

// Sum: uint32_t for sums of at most 31 bits and a sign, or uint64_t.
template <class Sum>
static inline void step_row(const LatentUpdateArgs& a, int64_t row, const Sum* sums) {
  const uint32_t first = uint32_t(row * a.channels);
  const NarrowStep narrow = narrow_step(a);
  if (sizeof(Sum) == 4 && narrow.serves) {
    return step_bits(a, row, [&](int64_t i) {
      return narrow_change(narrow, int32_t(sums[i]), random_bits(a.step.key, first + uint32_t(i)));
    });
  }
  step_bits(a, row, [&](int64_t i) {
    const int64_t sum = sizeof(Sum) == 4 ? int64_t(int32_t(sums[i])) : int64_t(sums[i]);
    return change_of(sum, sub(a.top, a.up), a.step, first + uint32_t(i));
  });
}

template <class T>
static inline uint64_t signs_of_word(const T* latent, int64_t lanes) {
  uint64_t bits = 0;
  for (int64_t i = 0; i < lanes; ++i) bits |= uint64_t(latent[i] >= 0) << i;
  return bits;
}

// Eight bytes at a time: their highest bits, moved to the lowest, are gathered by one product.
static inline uint64_t signs_of_word(const int8_t* latent, int64_t lanes) {
  uint64_t bits = 0;
  for (int64_t i = 0; i < lanes; i += 8) {
    uint64_t eight = 0;
    if (lanes - i >= 8) __builtin_memcpy(&eight, latent + i, 8);
    else __builtin_memcpy(&eight, latent + i, size_t(lanes - i));
    bits |= ((~eight >> 7 & 0x0101010101010101u) * 0x0102040810204080u >> 56) << i;
  }
  return lanes < kWord ? bits & ((uint64_t(1) << lanes) - 1) : bits;
}

// Two weights in a byte: bits 3 and 7 of eight bytes, brought together in three steps.
static inline uint64_t signs_of_word(const uint8_t* latent, int64_t lanes) {
  uint64_t bits = 0;
  for (int64_t i = 0; i < lanes; i += 16) {
    uint64_t x = 0;
    if (lanes - i >= 16) __builtin_memcpy(&x, latent + i / 2, 8);
    else __builtin_memcpy(&x, latent + i / 2, size_t((lanes - i + 1) / 2));
    x = ~x >> 3 & 0x1111111111111111u;
    x = (x | x >> 3) & 0x0303030303030303u;
    x = (x | x >> 6) & 0x000F000F000F000Fu;
    x = (x | x >> 12) & 0x000000FF000000FFu;
    bits |= ((x | x >> 24) & 0xFFFF) << i;
  }
  return lanes < kWord ? bits & ((uint64_t(1) << lanes) - 1) : bits;
}

// `row_size` elements of T a row, `word_size` of them for 64 weights.
template <class T>
static inline void signs_of(const T* latent, int64_t row_size, int64_t word_size, const LatentSignsArgs& a) {
  for (int64_t row = 0; row < a.rows; ++row)
    for (int64_t word = 0; word < a.words; ++word)
      a.w[row * a.words + word] =
          signs_of_word(latent + row * row_size + word * word_size, min_of(kWord, a.channels - word * kWord));
}

static inline void signs_bits(const LatentSignsArgs& a) {
  switch (a.bits) {
    case 4: return signs_of(static_cast<const uint8_t*>(a.latent), (a.channels + 1) / 2, kWord / 2, a);
    case 8: return signs_of(static_cast<const int8_t*>(a.latent), a.channels, kWord, a);
    case 16: return signs_of(static_cast<const int16_t*>(a.latent), a.channels, kWord, a);
    default: return signs_of(static_cast<const int32_t*>(a.latent), a.channels, kWord, a);
  }
}

}  // namespace bitreplay
