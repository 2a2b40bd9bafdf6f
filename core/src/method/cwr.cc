// CWR*: docs/law.md section 10. engine/method.py, `consolidate`, is the reference.
//
//     m     = divide_round(sum of tw over the classes present, their number)
//     R     = floor(sqrt(past / now) 2^16)
//     cw[c] = (cw[c] R + (tw[c] - m) 2^16) / (R + 2^16), rounded; past[c] += now[c]
//
// For past / now < 2^26, R < 2^29 and the sum is below 2^61. Beyond it, both languages wrap modulo 2^64.
#include "arithmetic/fixedpoint.h"
#include "bitreplay_method.h"
#include "method/root.h"

namespace bitreplay {
namespace {

constexpr int64_t kRootPoint = 16, kLargestWeight = (int64_t(1) << 31) - 1;

int32_t divided(int64_t top, int64_t bottom) {
  const int64_t magnitude = divide_floor(add(mul(2, absolute(top)), bottom), 2 * bottom);
  return int32_t(saturate(top < 0 ? sub(0, magnitude) : magnitude, -kLargestWeight, kLargestWeight));
}

}  // namespace
}  // namespace bitreplay

using namespace bitreplay;

int br_consolidate(int32_t* cw, const int32_t* tw, int64_t* past, const int64_t* present, uint32_t classes,
                   uint32_t columns) {
  if (!cw || !tw || !past || !present || !columns) return BR_BAD_ARGUMENT;
  int64_t sum = 0, number = 0;
  for (uint32_t c = 0; c < classes; ++c) {
    if (present[c] < 0 || past[c] < 0) return BR_BAD_ARGUMENT;
    for (uint32_t i = 0; i < columns && present[c]; ++i, ++number) sum += tw[size_t(c) * columns + i];
  }
  if (!number) return BR_BAD_ARGUMENT;
  const int64_t size = (2 * absolute(sum) + number) / (2 * number), mean = sum < 0 ? -size : size;
  for (uint32_t c = 0; c < classes; ++c) {
    if (!present[c]) continue;
    const uint64_t before = uint64_t(past[c]);
    const int64_t ratio = int64_t(root(quotient({before >> 32, before << 32}, uint64_t(present[c]))));
    const int64_t bottom = ratio + (int64_t(1) << kRootPoint);
    for (uint32_t i = 0; i < columns; ++i) {
      const size_t at = size_t(c) * columns + i;
      cw[at] = divided(add(mul(cw[at], ratio), left(tw[at] - mean, kRootPoint)), bottom);
    }
    past[c] = add(past[c], present[c]);
  }
  return BR_OK;
}
