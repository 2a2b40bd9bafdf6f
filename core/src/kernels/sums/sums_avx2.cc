// Products of 32 bits: the even lanes of a register, then the odd ones shifted down; a tile shares the shifts. Products
// of pictures: two int16 products a lane, added.
#include <immintrin.h>

#include "kernels/sums/sums.h"

namespace bitreplay {
namespace {

inline __m256i load(const void* at) { return _mm256_loadu_si256(static_cast<const __m256i*>(at)); }
inline void store(void* at, __m256i v) { _mm256_storeu_si256(static_cast<__m256i*>(at), v); }
inline __m256i odd(__m256i v) { return _mm256_srli_epi64(v, 32); }

inline int64_t sum_of(__m256i v) {
  const __m128i two = _mm_add_epi64(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  return _mm_extract_epi64(two, 0) + _mm_extract_epi64(two, 1);
}

// All bits set in the first `count` of 8 lanes.
inline __m256i first_lanes(int64_t count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(int(count)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

void pair_products(const int16_t* pairs, int64_t count, int64_t stride, int64_t row, int64_t columns, int32_t* out) {
  for (int64_t start = 0; start < columns; start += kPairColumns) {
    __m256i sums[4][2] = {};
    for (int64_t k = 0; k < count; ++k) {
      const int16_t *ones = pairs + 2 * (k * stride + row), *others = pairs + 2 * (k * stride + start);
      const __m256i a = load(others), b = load(others + 16);
      for (int r = 0; r < 4; ++r) {
        int32_t pair;
        __builtin_memcpy(&pair, ones + 2 * r, sizeof pair);
        const __m256i one = _mm256_set1_epi32(pair);
        sums[r][0] = _mm256_add_epi32(sums[r][0], _mm256_madd_epi16(one, a));
        sums[r][1] = _mm256_add_epi32(sums[r][1], _mm256_madd_epi16(one, b));
      }
    }
    for (int r = 0; r < 4; ++r)
      for (int h = 0; h < 2; ++h) store(out + r * stride + start + 8 * h, sums[r][h]);
  }
}

// Two left rows by `kWidth` right ones.
template <int kWidth>
void two_rows(const int32_t* const left[2], const int32_t* const right[4], int64_t count, int64_t* out) {
  __m256i sums[2][kWidth] = {};
  const auto eight = [&](const __m256i* a, const __m256i* b) {
    __m256i a_odd[2];
    for (int l = 0; l < 2; ++l) a_odd[l] = odd(a[l]);
    for (int r = 0; r < kWidth; ++r) {
      const __m256i b_odd = odd(b[r]);
      for (int l = 0; l < 2; ++l) {
        sums[l][r] = _mm256_add_epi64(sums[l][r], _mm256_mul_epi32(a[l], b[r]));
        sums[l][r] = _mm256_add_epi64(sums[l][r], _mm256_mul_epi32(a_odd[l], b_odd));
      }
    }
  };
  int64_t k = 0;
  __m256i a[2], b[kWidth];
  for (; k + 8 <= count; k += 8) {
    for (int l = 0; l < 2; ++l) a[l] = load(left[l] + k);
    for (int r = 0; r < kWidth; ++r) b[r] = load(right[r] + k);
    eight(a, b);
  }
  if (k < count) {
    const __m256i mask = first_lanes(count - k);
    for (int l = 0; l < 2; ++l) a[l] = _mm256_maskload_epi32(left[l] + k, mask);
    for (int r = 0; r < kWidth; ++r) b[r] = _mm256_maskload_epi32(right[r] + k, mask);
    eight(a, b);
  }
  for (int l = 0; l < 2; ++l)
    for (int r = 0; r < kWidth; ++r) out[4 * l + r] = sum_of(sums[l][r]);
}

void row_products(const int32_t* const left[4], const int32_t* const right[4], int64_t width, int64_t count,
                  int64_t out[16]) {
  for (int l = 0; l < 4; l += 2)
    if (width == 4) two_rows<4>(left + l, right, count, out + 4 * l);
    else two_rows<2>(left + l, right, count, out + 4 * l);
}

void take_away(const int32_t* const rows[4], int64_t count, const int32_t high[4], const int32_t low[4], int64_t* rest,
               int64_t* fine) {
  int64_t k = 0;
  for (; k + 4 <= count; k += 4) {
    __m256i less = load(rest + k), more = load(fine + k);
    for (int l = 0; l < 4; ++l) {
      const __m256i row = _mm256_cvtepi32_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[l] + k)));
      less = _mm256_sub_epi64(less, _mm256_mul_epi32(row, _mm256_set1_epi64x(high[l])));
      more = _mm256_add_epi64(more, _mm256_mul_epi32(row, _mm256_set1_epi64x(low[l])));
    }
    store(rest + k, less);
    store(fine + k, more);
  }
  for (; k < count; ++k)
    for (int l = 0; l < 4; ++l) {
      rest[k] = int64_t(uint64_t(rest[k]) - uint64_t(int64_t(rows[l][k]) * high[l]));
      fine[k] = int64_t(uint64_t(fine[k]) + uint64_t(int64_t(rows[l][k]) * low[l]));
    }
}

int64_t score(const int32_t* weights, const int8_t* x, int64_t count) {
  __m256i sums = _mm256_setzero_si256();
  int64_t k = 0;
  for (; k + 8 <= count; k += 8) {
    const __m256i w = load(weights + k), v = _mm256_cvtepi8_epi32(_mm_loadu_si64(x + k));
    sums = _mm256_add_epi64(sums, _mm256_mul_epi32(w, v));
    sums = _mm256_add_epi64(sums, _mm256_mul_epi32(odd(w), odd(v)));
  }
  int64_t sum = sum_of(sums);
  for (; k < count; ++k) sum += int64_t(weights[k]) * x[k];
  return sum;
}

}  // namespace

extern const SumsKernels kSumsAvx2 = {pair_products, row_products, take_away, score};

}  // namespace bitreplay
