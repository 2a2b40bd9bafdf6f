// Products of 32 bits by i64x2.extmul, two lanes at a time; products of pictures by i32x4.dot, both pictures of a pair.
#include <wasm_simd128.h>

#include "kernels/sums/sums.h"

namespace bitreplay {
namespace {

inline uint64_t sum_of(v128_t x) {
  return uint64_t(wasm_i64x2_extract_lane(x, 0)) + uint64_t(wasm_i64x2_extract_lane(x, 1));
}

// sum + a b, of the four products two in each lane.
inline v128_t add_products(v128_t sum, v128_t a, v128_t b) {
  return wasm_i64x2_add(wasm_i64x2_add(sum, wasm_i64x2_extmul_low_i32x4(a, b)), wasm_i64x2_extmul_high_i32x4(a, b));
}

void pair_products(const int16_t* pairs, int64_t count, int64_t stride, int64_t row, int64_t columns, int32_t* out) {
  for (int64_t start = 0; start < columns; start += 8) {
    v128_t sums[4][2];
    for (int r = 0; r < 4; ++r) sums[r][0] = sums[r][1] = wasm_i32x4_const_splat(0);
    for (int64_t k = 0; k < count; ++k) {
      const int16_t *ones = pairs + 2 * (k * stride + row), *others = pairs + 2 * (k * stride + start);
      const v128_t first = wasm_v128_load(others), second = wasm_v128_load(others + 8);
      for (int r = 0; r < 4; ++r) {
        const v128_t one = wasm_v128_load32_splat(ones + 2 * r);
        sums[r][0] = wasm_i32x4_add(sums[r][0], wasm_i32x4_dot_i16x8(first, one));
        sums[r][1] = wasm_i32x4_add(sums[r][1], wasm_i32x4_dot_i16x8(second, one));
      }
    }
    for (int r = 0; r < 4; ++r)
      for (int h = 0; h < 2; ++h) wasm_v128_store(out + r * stride + start + 4 * h, sums[r][h]);
  }
}

// Two right rows at a time.
void row_products(const int32_t* const left[4], const int32_t* const right[4], int64_t width, int64_t count,
                  int64_t out[16]) {
  for (int64_t l = 0; l < 4; ++l) {
    for (int64_t r = 0; r < width; r += 2) {
      const int32_t *a = left[l], *b = right[r], *c = right[r + 1];
      v128_t with_b = wasm_i64x2_const_splat(0), with_c = with_b;
      int64_t k = 0;
      for (; k + 4 <= count; k += 4) {
        const v128_t one = wasm_v128_load(a + k);
        with_b = add_products(with_b, one, wasm_v128_load(b + k));
        with_c = add_products(with_c, one, wasm_v128_load(c + k));
      }
      uint64_t sums[2] = {sum_of(with_b), sum_of(with_c)};
      for (; k < count; ++k) {
        sums[0] += uint64_t(int64_t(a[k]) * b[k]);
        sums[1] += uint64_t(int64_t(a[k]) * c[k]);
      }
      out[4 * l + r] = int64_t(sums[0]);
      out[4 * l + r + 1] = int64_t(sums[1]);
    }
  }
}

void take_away(const int32_t* const rows[4], int64_t count, const int32_t high[4], const int32_t low[4], int64_t* rest,
               int64_t* fine) {
  int64_t k = 0;
  for (; k + 4 <= count; k += 4) {
    v128_t less[2] = {wasm_v128_load(rest + k), wasm_v128_load(rest + k + 2)};
    v128_t more[2] = {wasm_v128_load(fine + k), wasm_v128_load(fine + k + 2)};
    for (int l = 0; l < 4; ++l) {
      const v128_t row = wasm_v128_load(rows[l] + k), up = wasm_i32x4_splat(high[l]), down = wasm_i32x4_splat(low[l]);
      less[0] = wasm_i64x2_sub(less[0], wasm_i64x2_extmul_low_i32x4(row, up));
      less[1] = wasm_i64x2_sub(less[1], wasm_i64x2_extmul_high_i32x4(row, up));
      more[0] = wasm_i64x2_add(more[0], wasm_i64x2_extmul_low_i32x4(row, down));
      more[1] = wasm_i64x2_add(more[1], wasm_i64x2_extmul_high_i32x4(row, down));
    }
    for (int h = 0; h < 2; ++h) {
      wasm_v128_store(rest + k + 2 * h, less[h]);
      wasm_v128_store(fine + k + 2 * h, more[h]);
    }
  }
  for (; k < count; ++k)
    for (int l = 0; l < 4; ++l) {
      rest[k] = int64_t(uint64_t(rest[k]) - uint64_t(int64_t(rows[l][k]) * high[l]));
      fine[k] = int64_t(uint64_t(fine[k]) + uint64_t(int64_t(rows[l][k]) * low[l]));
    }
}

int64_t score(const int32_t* weights, const int8_t* x, int64_t count) {
  v128_t sums = wasm_i64x2_const_splat(0);
  int64_t k = 0;
  for (; k + 8 <= count; k += 8) {
    const v128_t wide = wasm_i16x8_load8x8(x + k);
    sums = add_products(sums, wasm_v128_load(weights + k), wasm_i32x4_extend_low_i16x8(wide));
    sums = add_products(sums, wasm_v128_load(weights + k + 4), wasm_i32x4_extend_high_i16x8(wide));
  }
  uint64_t sum = sum_of(sums);
  for (; k < count; ++k) sum += uint64_t(int64_t(weights[k]) * x[k]);
  return int64_t(sum);
}

}  // namespace

extern const SumsKernels kSumsWasm = {pair_products, row_products, take_away, score};

}  // namespace bitreplay
