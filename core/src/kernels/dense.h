// dense_sums: sums[c] = sum over features of (x - x_zero) operand[c], for one sample.
//
// In     x: `features` elements of int8, int16 or int32; operand: classes * features of int8, int16 or int32.
// Out    sums: `classes` int64, modulo 2^64.
// Reads and writes nothing outside; nothing overlaps.
#pragma once
#include <cstdint>

namespace bitreplay {

struct DenseSumsArgs {
  int64_t features, classes, x_zero;
  const void* x;
  int x_type;
  const void* operand;
  int operand_type;
  int64_t* sums;
};

using DenseSums = void(const DenseSumsArgs&);
DenseSums dense_sums_scalar, dense_sums_avx2, dense_sums_avx512, dense_sums_neon;

}  // namespace bitreplay
