// pack_signs_above by one comparison in the stored width.
//
//     (x - zero) 2^point >= T   <=>   x >= zero + ceil(T / 2^point)
//
// where nothing on the left leaves 64 bits. A bound above all stored numbers is kept as the largest, and its channel's
// bit is taken away.
#pragma once
#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#endif

#include <cstdint>
#include <cstring>

#include "arithmetic/fixedpoint.h"
#include "arithmetic/packing.h"

namespace bitreplay {
namespace {

// The bounds of up to 64 channels.
template <class X>
struct SignBounds {
  X min_x[kWord] = {};
  uint64_t possible = 0;

  SignBounds(const int32_t* threshold, int64_t lanes, int64_t zero, int64_t point) {
    constexpr int64_t high = (int64_t(1) << (8 * sizeof(X) - 1)) - 1, low = -high - 1;
    for (int64_t i = 0; i < lanes; ++i) {
      const int64_t bound = zero - (-int64_t(threshold[i]) >> point);
      min_x[i] = X(saturate(bound, low, high));
      possible |= uint64_t(bound <= high) << i;
    }
  }
};

#if defined(__AVX512BW__)

inline uint64_t at_least(const int8_t* x, const int8_t* bounds) {
  return _mm512_cmpge_epi8_mask(_mm512_loadu_si512(x), _mm512_loadu_si512(bounds));
}
inline uint64_t at_least(const int16_t* x, const int16_t* bounds) {
  const uint64_t low = _mm512_cmpge_epi16_mask(_mm512_loadu_si512(x), _mm512_loadu_si512(bounds));
  const uint64_t high = _mm512_cmpge_epi16_mask(_mm512_loadu_si512(x + 32), _mm512_loadu_si512(bounds + 32));
  return low | high << 32;
}

#elif defined(__AVX2__)

inline __m256i load256(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
inline uint32_t below32(const int8_t* x, const int8_t* bounds) {
  return uint32_t(_mm256_movemask_epi8(_mm256_cmpgt_epi8(load256(bounds), load256(x))));
}
inline uint32_t below32(const int16_t* x, const int16_t* bounds) {
  const __m256i a = _mm256_cmpgt_epi16(load256(bounds), load256(x));
  const __m256i b = _mm256_cmpgt_epi16(load256(bounds + 16), load256(x + 16));
  return uint32_t(_mm256_movemask_epi8(_mm256_permute4x64_epi64(_mm256_packs_epi16(a, b), 0xD8)));
}
template <class X>
inline uint64_t at_least(const X* x, const X* bounds) {
  return ~(uint64_t(below32(x, bounds)) | uint64_t(below32(x + 32, bounds + 32)) << 32);
}

#elif defined(__wasm_simd128__)

inline uint64_t at_least16(const int8_t* x, const int8_t* bounds) {
  return wasm_i8x16_bitmask(wasm_i8x16_ge(wasm_v128_load(x), wasm_v128_load(bounds)));
}
inline uint64_t at_least16(const int16_t* x, const int16_t* bounds) {
  const v128_t a = wasm_i16x8_ge(wasm_v128_load(x), wasm_v128_load(bounds));
  const v128_t b = wasm_i16x8_ge(wasm_v128_load(x + 8), wasm_v128_load(bounds + 8));
  return wasm_i8x16_bitmask(wasm_i8x16_narrow_i16x8(a, b));
}
template <class X>
inline uint64_t at_least(const X* x, const X* bounds) {
  uint64_t bits = 0;
  for (int part = 0; part < 64; part += 16) bits |= at_least16(x + part, bounds + part) << part;
  return bits;
}

#else

// Eight bytes that are 0 or 1, times this: their bits in the highest byte, the lowest first.
constexpr uint64_t kGatherBits = 0x0102040810204080u;

template <class X>
inline uint64_t at_least(const X* x, const X* bounds) {
  uint8_t above[kWord];
  for (int64_t i = 0; i < kWord; ++i) above[i] = x[i] >= bounds[i];
  uint64_t bits = 0;
  for (int64_t byte = 0; byte < 8; ++byte) {
    uint64_t eight;
    memcpy(&eight, above + 8 * byte, 8);
    bits |= eight * kGatherBits >> 56 << (8 * byte);
  }
  return bits;
}

#endif

// Tells whether it did the work.
template <class X>
bool pack_signs_above_bounds(int64_t rows, int64_t channels, const X* x, const int32_t* threshold, int64_t zero,
                             int64_t point, uint64_t* bits) {
  if (point > 30 || absolute(zero) > int64_t(1) << 30) return false;
  const int64_t words = words_for(channels);
  for (int64_t word = 0; word < words; ++word) {
    const int64_t first = word * kWord, lanes = min_of(kWord, channels - first);
    const SignBounds<X> bounds(threshold + first, lanes, zero, point);
    for (int64_t row = 0; row < rows; ++row) {
      const X* from = x + row * channels + first;
      X some[kWord] = {};
      if (lanes < kWord) from = static_cast<const X*>(memcpy(some, from, size_t(lanes) * sizeof(X)));
      bits[row * words + word] = at_least(from, bounds.min_x) & bounds.possible;
    }
  }
  return true;
}

}  // namespace
}  // namespace bitreplay
