#include "arithmetic/fixedpoint.h"
#include "kernels/sums/sums.h"

namespace bitreplay {
namespace {

void pair_products(const int16_t* pairs, int64_t count, int64_t stride, int64_t row, int64_t columns, int32_t* out) {
  for (int64_t r = 0; r < 4; ++r)
    for (int64_t start = 0; start < columns; start += kPairColumns) {
      int32_t sums[kPairColumns] = {};
      for (int64_t k = 0; k < count; ++k) {
        const int16_t *one = pairs + 2 * (k * stride + row + r), *others = pairs + 2 * (k * stride + start);
        for (int64_t j = 0; j < kPairColumns; ++j) sums[j] += one[0] * others[2 * j] + one[1] * others[2 * j + 1];
      }
      for (int64_t j = 0; j < kPairColumns; ++j) out[r * stride + start + j] = sums[j];
    }
}

void row_products(const int32_t* const left[4], const int32_t* const right[4], int64_t width, int64_t count,
                  int64_t out[16]) {
  for (int64_t l = 0; l < 4; ++l)
    for (int64_t r = 0; r < width; ++r) {
      int64_t sum = 0;
      for (int64_t k = 0; k < count; ++k) sum = add(sum, int64_t(left[l][k]) * right[r][k]);
      out[4 * l + r] = sum;
    }
}

void take_away(const int32_t* const rows[4], int64_t count, const int32_t high[4], const int32_t low[4], int64_t* rest,
               int64_t* fine) {
  for (int64_t k = 0; k < count; ++k)
    for (int64_t l = 0; l < 4; ++l) {
      rest[k] = sub(rest[k], int64_t(rows[l][k]) * high[l]);
      fine[k] = add(fine[k], int64_t(rows[l][k]) * low[l]);
    }
}

int64_t score(const int32_t* weights, const int8_t* x, int64_t count) {
  int64_t sum = 0;
  for (int64_t k = 0; k < count; ++k) sum += int64_t(weights[k]) * x[k];
  return sum;
}

}  // namespace

const SumsKernels kSumsScalar = {pair_products, row_products, take_away, score};

}  // namespace bitreplay
