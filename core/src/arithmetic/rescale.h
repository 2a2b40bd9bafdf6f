// Short ways from stored numbers to stored numbers of another scale, equal to Rescaled for every input.
#pragma once
#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "arithmetic/tiles.h"

namespace bitreplay {

constexpr int64_t kWorthATable = 1024;

namespace {

// The results for the 256 bytes: y = table[x + 128].
struct ByteTable {
  int8_t table[256];

  explicit ByteTable(const Rescaled& rescaled) {
    int64_t results[256];
    for (int64_t i = 0; i < 256; ++i) results[i] = i - 128;
    rescaled(results, 256);
    narrow_to<int8_t>(results, 256, table, 0);
#if defined(__AVX2__) && !defined(__AVX512VBMI__)
    even = find_even(rescaled);
#endif
  }

  void look_up(const int8_t* x, int64_t size, int8_t* y) const {
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
    int64_t i = 0;
#if defined(__AVX2__)
    for (; even && i + 32 <= size; i += 32)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(y + i),
                          even_results(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i))));
    // Of 16 tables of 16 each has its turn. Where the upper half of x names it, x becomes 0x70 and the lower half,
    // otherwise at least 0x80, for which vpshufb gives 0.
    for (; i + 32 <= size; i += 32) {
      const __m256i at = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i));
      __m256i result = _mm256_setzero_si256();
      for (int part = 0; part < 16; ++part) {
        const __m128i* entries = reinterpret_cast<const __m128i*>(table + (16 * part + 128) % 256);
        const __m256i place = _mm256_xor_si256(at, _mm256_set1_epi8(char(16 * part)));
        const __m256i own = _mm256_adds_epu8(place, _mm256_set1_epi8(0x70));
        result =
            _mm256_or_si256(result, _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128(entries)), own));
      }
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(y + i), result);
    }
#elif defined(__ARM_NEON) && defined(__aarch64__)
    // Places outside a table of 64 keep what was found before.
    uint8x16x4_t tables[4];
    for (int part = 0; part < 4; ++part)
      tables[part] = vld1q_u8_x4(reinterpret_cast<const uint8_t*>(table) + 64 * part);
    for (; i + 16 <= size; i += 16) {
      uint8x16_t at = veorq_u8(vreinterpretq_u8_s8(vld1q_s8(x + i)), vdupq_n_u8(128));
      uint8x16_t result = vqtbl4q_u8(tables[0], at);
      for (int part = 1; part < 4; ++part) {
        at = vsubq_u8(at, vdupq_n_u8(64));
        result = vqtbx4q_u8(result, tables[part], at);
      }
      vst1q_s8(y + i, vreinterpretq_s8_u8(result));
    }
#endif
    for (; i < size; ++i) y[i] = table[x[i] + 128];
#endif
  }

#if defined(__AVX2__) && !defined(__AVX512VBMI__)
 private:
  // Many tables are one number up to the zero of x and climb evenly behind it: with d = max(x, zero) - zero,
  //   y = min(base + (d 2^raised factor + 2^15) / 2^16, highest),
  // products of 16 bits. Whether one is, and for which factor next to the scale, all 256 bytes tell.
  bool even;
  int zero, base, highest, raised;
  uint32_t factor;

  int even_result(int x) const {
    const uint32_t d = uint32_t(x > zero ? x - zero : 0) << raised;
    const int y = base + int((d * factor + (1u << 15)) >> 16);
    return y < highest ? y : highest;
  }

  bool find_even(const Rescaled& rescaled) {
    const int64_t mantissa = rescaled.mantissa, down = rescaled.stored.shift - 16;
    if (mantissa <= 0 || mantissa > INT32_MAX || down < 1 || down > 40) return false;
    if (rescaled.x_zero != int8_t(rescaled.x_zero)) return false;
    zero = int(rescaled.x_zero), base = table[zero + 128], highest = table[255], raised = 0;
    while (raised < 6 && mantissa >> (down + raised) >= 65535) ++raised;
    const int64_t middle = (mantissa + (int64_t(1) << (down + raised - 1))) >> (down + raised);
    for (int64_t near = middle - 1; near <= middle + 1; ++near) {
      factor = uint32_t(near);
      bool equal = near > 0 && near < 1 << 16;
      for (int x = -128; equal && x < 128; ++x) equal = even_result(x) == table[x + 128];
      if (equal) return true;
    }
    return false;
  }

  // Words of each half in turn: packing brings them back in order.
  __m256i even_results(__m256i x) const {
    const __m256i lowest = _mm256_set1_epi8(char(zero)), none = _mm256_setzero_si256();
    const __m256i d = _mm256_sub_epi8(_mm256_max_epi8(x, lowest), lowest);
    const auto half = [&](__m256i words) {
      const __m256i by = _mm256_set1_epi16(short(factor));
      const __m256i wide = _mm256_sll_epi16(words, _mm_cvtsi32_si128(raised));
      const __m256i rest = _mm256_srli_epi16(_mm256_mullo_epi16(wide, by), 15);
      const __m256i y =
          _mm256_add_epi16(_mm256_add_epi16(_mm256_mulhi_epu16(wide, by), rest), _mm256_set1_epi16(short(base)));
      return _mm256_min_epi16(y, _mm256_set1_epi16(short(highest)));
    };
    return _mm256_packs_epi16(half(_mm256_unpacklo_epi8(d, none)), half(_mm256_unpackhi_epi8(d, none)));
  }
#endif
};

}  // namespace

// Bytes to bytes: a table of the 256 results.
static inline bool rescale_bytes(const Rescaled& rescaled, int x_type, const void* x, int64_t size, int y_type,
                                 void* y) {
  if (x_type != BR_INT8 || y_type != BR_INT8 || size < kWorthATable) return false;
  ByteTable(rescaled).look_up(static_cast<const int8_t*>(x), size, static_cast<int8_t*>(y));
  return true;
}

// The same scale on both sides, int16 to int16: the zeros' distance and the range, in 32 bits.
static inline bool shift_words(const Rescaled& rescaled, int x_type, const void* x, int64_t size, int y_type, void* y) {
  constexpr int64_t bound = int64_t(1) << 24;
  const Stored& to = rescaled.stored;
  if (x_type != BR_INT16 || y_type != BR_INT16) return false;
  if (to.shift < 0 || to.shift > 31 || rescaled.mantissa != int64_t(1) << to.shift) return false;
  if (absolute(rescaled.x_zero) > bound || absolute(to.zero) > bound || to.low > bound || to.high < -bound)
    return false;
  // No number is further from 0 than 2^26: an end beyond 2^30 is never met.
  const int32_t offset = int32_t(to.zero - rescaled.x_zero);
  const int32_t low = int32_t(max_of(to.low, -(1 << 30))), high = int32_t(min_of(to.high, 1 << 30));
  const int16_t* from = static_cast<const int16_t*>(x);
  int16_t* target = static_cast<int16_t*>(y);
  if (offset == 0) {  // 16 bits are enough: an end beyond them is never met
    if (low > INT16_MAX || high < INT16_MIN) return false;
    const int16_t lowest = int16_t(max_of(low, INT16_MIN)), highest = int16_t(min_of(high, INT16_MAX));
    for (int64_t i = 0; i < size; ++i) {
      const int16_t value = from[i] > highest ? highest : from[i];
      target[i] = from[i] < lowest ? lowest : value;
    }
    return true;
  }
  for (int64_t i = 0; i < size; ++i) {
    const int32_t value = from[i] + offset;
    target[i] = int16_t(value < low ? low : value > high ? high : value);
  }
  return true;
}

}  // namespace bitreplay
