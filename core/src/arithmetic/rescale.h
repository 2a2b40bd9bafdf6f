// Short ways from stored numbers to stored numbers of another scale, equal to Rescaled for every input.
#pragma once
#if defined(__AVX512VBMI__)
#include <immintrin.h>
#endif

#include "arithmetic/tiles.h"

namespace bitreplay {

constexpr int64_t kWorthATable = 1024;

// y = table[x + 128].
static inline void look_up(const int8_t* table, const int8_t* x, int64_t size, int8_t* y) {
#if defined(__AVX512VBMI__)
  const __m512i n0 = _mm512_loadu_si512(table), n1 = _mm512_loadu_si512(table + 64);
  const __m512i p0 = _mm512_loadu_si512(table + 128), p1 = _mm512_loadu_si512(table + 192);
  for (int64_t i = 0; i < size; i += 64) {
    const __mmask64 mask = size - i >= 64 ? ~__mmask64(0) : (__mmask64(1) << (size - i)) - 1;
    const __m512i at = _mm512_maskz_loadu_epi8(mask, x + i);
    const __m512i negative = _mm512_permutex2var_epi8(n0, at, n1), positive = _mm512_permutex2var_epi8(p0, at, p1);
    _mm512_mask_storeu_epi8(y + i, mask, _mm512_mask_blend_epi8(_mm512_movepi8_mask(at), positive, negative));
  }
#else
  for (int64_t i = 0; i < size; ++i) y[i] = table[x[i] + 128];
#endif
}

// Bytes to bytes: a table of the 256 results.
static inline bool rescale_bytes(const Rescaled& rescaled, int x_type, const void* x, int64_t size, int y_type, void* y) {
  if (x_type != BR_INT8 || y_type != BR_INT8 || size < kWorthATable) return false;
  int64_t results[256];
  int8_t table[256];
  for (int64_t i = 0; i < 256; ++i) results[i] = i - 128;
  rescaled(results, 256);
  narrow_to<int8_t>(results, 256, table, 0);
  look_up(table, static_cast<const int8_t*>(x), size, static_cast<int8_t*>(y));
  return true;
}

// The same scale on both sides, int16 to int16: the zeros' distance and the range, in 32 bits.
static inline bool shift_words(const Rescaled& rescaled, int x_type, const void* x, int64_t size, int y_type, void* y) {
  constexpr int64_t bound = int64_t(1) << 24;
  const Stored& to = rescaled.stored;
  if (x_type != BR_INT16 || y_type != BR_INT16) return false;
  if (to.shift < 0 || to.shift > 31 || rescaled.mantissa != int64_t(1) << to.shift) return false;
  if (absolute(rescaled.x_zero) > bound || absolute(to.zero) > bound || to.low > bound || to.high < -bound) return false;
  // No number is further from 0 than 2^26: an end beyond 2^30 is never met.
  const int32_t offset = int32_t(to.zero - rescaled.x_zero);
  const int32_t low = int32_t(most(to.low, -(1 << 30))), high = int32_t(least(to.high, 1 << 30));
  const int16_t* from = static_cast<const int16_t*>(x);
  int16_t* target = static_cast<int16_t*>(y);
  for (int64_t i = 0; i < size; ++i) {
    const int32_t value = from[i] + offset;
    target[i] = int16_t(value < low ? low : value > high ? high : value);
  }
  return true;
}

}  // namespace bitreplay
