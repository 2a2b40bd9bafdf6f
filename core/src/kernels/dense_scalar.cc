#include "kernels/dense.h"

#include "elements.h"
#include "fixedpoint.h"

namespace bitreplay {

void dense_sums_scalar(const DenseSumsArgs& a) {
  int64_t x[kTile], w[kTile];
  for (int64_t c = 0; c < a.classes; ++c) a.sums[c] = 0;
  for (int64_t at = 0; at < a.features; at += kTile) {
    const int64_t count = least(kTile, a.features - at);
    widen(a.x_type, a.x, at, count, x);
    for (int64_t i = 0; i < count; ++i) x[i] = sub(x[i], a.x_zero);
    for (int64_t c = 0; c < a.classes; ++c) {
      widen(a.operand_type, a.operand, c * a.features + at, count, w);
      uint64_t total = uint64_t(a.sums[c]);
      for (int64_t i = 0; i < count; ++i) total += uint64_t(x[i]) * uint64_t(w[i]);
      a.sums[c] = int64_t(total);
    }
  }
}

}  // namespace bitreplay
