// As sums_avx2.cc, with registers twice as wide, four rows by four at once, and masks at the ends.
#include <immintrin.h>

#include "kernels/sums/sums.h"

namespace bitreplay {
namespace {

inline __m512i odd(__m512i v) { return _mm512_srli_epi64(v, 32); }
inline __mmask16 first_lanes(int64_t count) { return count >= 16 ? __mmask16(0xFFFF) : __mmask16((1u << count) - 1); }

// Columns start to start + 16 kColumns - 1 of four rows.
template <int kColumns>
void pair_tile(const int16_t* pairs, int64_t count, int64_t stride, int64_t row, int64_t start, int32_t* out) {
  __m512i sums[4][kColumns];
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < kColumns; ++c) sums[r][c] = _mm512_setzero_si512();
  for (int64_t k = 0; k < count; ++k) {
    const int16_t *ones = pairs + 2 * (k * stride + row), *others = pairs + 2 * (k * stride + start);
    __m512i columns[kColumns];
    for (int c = 0; c < kColumns; ++c) columns[c] = _mm512_loadu_si512(others + 32 * c);
    for (int r = 0; r < 4; ++r) {
      int32_t pair;
      __builtin_memcpy(&pair, ones + 2 * r, sizeof pair);
      const __m512i one = _mm512_set1_epi32(pair);
      for (int c = 0; c < kColumns; ++c) sums[r][c] = _mm512_dpwssd_epi32(sums[r][c], one, columns[c]);
    }
  }
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < kColumns; ++c) _mm512_storeu_si512(out + r * stride + start + 16 * c, sums[r][c]);
}

void pair_products(const int16_t* pairs, int64_t count, int64_t stride, int64_t row, int64_t columns, int32_t* out) {
  int64_t start = 0;
  for (; start + 64 <= columns; start += 64) pair_tile<4>(pairs, count, stride, row, start, out);
  for (; start < columns; start += 16) pair_tile<1>(pairs, count, stride, row, start, out);
}

// sums[4 l + r] += a[l] b[r], products of the even lanes, each sum in its register.
template <int kWidth>
__attribute__((always_inline)) inline void add_products(__m512i* sums, const __m512i* a, const __m512i* b) {
#pragma GCC unroll 16
  for (int i = 0; i < 4 * kWidth; ++i) {
    sums[i] = _mm512_add_epi64(sums[i], _mm512_mul_epi32(a[i / kWidth], b[i % kWidth]));
    __asm__("" : "+v"(sums[i]));
  }
}

template <int kWidth>
void rows_by(const int32_t* const left[4], const int32_t* const right[4], int64_t count, int64_t out[16]) {
  __m512i sums[4 * kWidth], a[4], b[kWidth];
#pragma GCC unroll 16
  for (int i = 0; i < 4 * kWidth; ++i) sums[i] = _mm512_setzero_si512();
  for (int64_t k = 0; k < count; k += 16) {
    const __mmask16 mask = first_lanes(count - k);
#pragma GCC unroll 4
    for (int l = 0; l < 4; ++l) a[l] = _mm512_maskz_loadu_epi32(mask, left[l] + k);
#pragma GCC unroll 4
    for (int r = 0; r < kWidth; ++r) b[r] = _mm512_maskz_loadu_epi32(mask, right[r] + k);
    add_products<kWidth>(sums, a, b);
#pragma GCC unroll 4
    for (int l = 0; l < 4; ++l) a[l] = odd(a[l]);
#pragma GCC unroll 4
    for (int r = 0; r < kWidth; ++r) b[r] = odd(b[r]);
    add_products<kWidth>(sums, a, b);
  }
#pragma GCC unroll 16
  for (int i = 0; i < 4 * kWidth; ++i) out[4 * (i / kWidth) + i % kWidth] = _mm512_reduce_add_epi64(sums[i]);
}

void row_products(const int32_t* const left[4], const int32_t* const right[4], int64_t width, int64_t count,
                  int64_t out[16]) {
  if (width == 4) rows_by<4>(left, right, count, out);
  else rows_by<2>(left, right, count, out);
}

void take_away(const int32_t* const rows[4], int64_t count, const int32_t high[4], const int32_t low[4], int64_t* rest,
               int64_t* fine) {
  for (int64_t k = 0; k < count; k += 8) {
    const __mmask8 mask = __mmask8(first_lanes(count - k));
    __m512i less = _mm512_maskz_loadu_epi64(mask, rest + k), more = _mm512_maskz_loadu_epi64(mask, fine + k);
    for (int l = 0; l < 4; ++l) {
      const __m512i row = _mm512_cvtepi32_epi64(_mm256_maskz_loadu_epi32(mask, rows[l] + k));
      less = _mm512_sub_epi64(less, _mm512_mul_epi32(row, _mm512_set1_epi64(high[l])));
      more = _mm512_add_epi64(more, _mm512_mul_epi32(row, _mm512_set1_epi64(low[l])));
    }
    _mm512_mask_storeu_epi64(rest + k, mask, less);
    _mm512_mask_storeu_epi64(fine + k, mask, more);
  }
}

int64_t score(const int32_t* weights, const int8_t* x, int64_t count) {
  __m512i sums = _mm512_setzero_si512();
  for (int64_t k = 0; k < count; k += 16) {
    const __mmask16 mask = first_lanes(count - k);
    const __m512i w = _mm512_maskz_loadu_epi32(mask, weights + k);
    const __m512i v = _mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(mask, x + k));
    sums = _mm512_add_epi64(sums, _mm512_mul_epi32(w, v));
    sums = _mm512_add_epi64(sums, _mm512_mul_epi32(odd(w), odd(v)));
  }
  return _mm512_reduce_add_epi64(sums);
}

}  // namespace

extern const SumsKernels kSumsAvx512 = {pair_products, row_products, take_away, score};

}  // namespace bitreplay
