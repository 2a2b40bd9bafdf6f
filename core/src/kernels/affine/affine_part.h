// affine of some channels of one row, or of some rows, whose sums are at hand.
#pragma once
#include "arithmetic/elements.h"
#include "kernels/affine/affine.h"

namespace bitreplay {

// The part of the work of `a` that is about `count` channels of a row, from `first` on, whose x are the `sums`.
static inline AffineArgs affine_part(AffineArgs a, const int32_t* sums, int64_t row, int64_t first, int64_t count) {
  const int64_t at = row * a.channels + first;
  a.rows = 1;
  a.channels = count;
  a.x = sums;
  a.a += first;
  a.b += first;
  if (a.residual) a.residual = static_cast<const uint8_t*>(a.residual) + at * element_bytes(a.residual_type);
  a.y = static_cast<uint8_t*>(a.y) + at * element_bytes(a.y_type);
  return a;
}

// The part that is about `count` rows, from `first` on, whose x are the `sums`.
static inline AffineArgs affine_rows(AffineArgs a, const int32_t* sums, int64_t first, int64_t count) {
  AffineArgs some = affine_part(a, sums, first, 0, a.channels);
  some.rows = count;
  return some;
}

}  // namespace bitreplay
