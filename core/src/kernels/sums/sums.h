// Learning by sums (docs/law.md section 13): the loops that take its time. Sums are exact modulo 2^32 and 2^64, so
// every order gives the same bits. Nothing is read or written beyond what is named; no alignment is needed.
#pragma once
#include <cstdint>

namespace bitreplay {

constexpr int64_t kPairColumns = 16;  // rows of picture pairs and of their products are padded to so many columns

// Products of the features of images. `pairs` holds two pictures a row, int16 and interleaved: feature j of both at 2
// j; a row has `stride` columns, a multiple of kPairColumns, as has a row of `out`.
//     out[r][j] = sum over the pictures of x[row + r] x[j],     r < 4, j < columns (rounded up to kPairColumns)
// row + 3 < stride. |x| <= 127 and at most 131,072 pictures: the sums fit int32.
using PairProducts = void(const int16_t* pairs, int64_t count, int64_t stride, int64_t row, int64_t columns,
                          int32_t* out);

// out[4 l + r] = sum over k < count of left[l][k] right[r][k]; of the right rows only the first `width` (2 or 4) are
// read and written.
using RowProducts = void(const int32_t* const left[4], const int32_t* const right[4], int64_t width, int64_t count,
                         int64_t out[16]);

// rest[k] -= sum_l high[l] rows[l][k],  fine[k] += sum_l low[l] rows[l][k],  k < count.
using TakeAway = void(const int32_t* const rows[4], int64_t count, const int32_t high[4], const int32_t low[4],
                      int64_t* rest, int64_t* fine);

// The sum over k < count of weights[k] x[k].
using Score = int64_t(const int32_t* weights, const int8_t* x, int64_t count);

struct SumsKernels {
  PairProducts* pair_products;
  RowProducts* row_products;
  TakeAway* take_away;
  Score* score;
};

extern const SumsKernels kSumsScalar, kSumsAvx2, kSumsAvx512, kSumsNeon, kSumsWasm;
PairProducts pair_products_dotprod;

}  // namespace bitreplay
