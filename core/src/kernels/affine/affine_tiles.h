// affine, tile by tile: loops that the compiler turns into vectors of the instruction set that includes them.
#pragma once
#include "arithmetic/elements.h"
#include "arithmetic/fixedpoint.h"
#include "arithmetic/tiles.h"
#include "kernels/affine/affine.h"

namespace bitreplay {

static void affine_tiles(const AffineArgs& a) {
  const Stored stored = {a.shift, a.y_zero, a.low, a.high};
  int64_t x[kTile], residual[kTile], left_range = 0;
  for (int64_t row = 0; row < a.rows; ++row) {
    for (int64_t c = 0; c < a.channels; c += kTile) {
      const int64_t count = min_of(kTile, a.channels - c), at = row * a.channels + c;
      widen(a.x_type, a.x, at, count, x);
      for (int64_t i = 0; i < count; ++i) x[i] = add(mul(sub(x[i], a.x_zero), a.a[c + i]), a.b[c + i]);
      if (a.residual) {
        widen(a.residual_type, a.residual, at, count, residual);
        for (int64_t i = 0; i < count; ++i) x[i] = add(x[i], mul(sub(residual[i], a.residual_zero), a.residual_factor));
      }
      left_range += stored(x, count);
      narrow(a.y_type, x, count, a.y, at);
    }
  }
  *a.saturated = add(*a.saturated, left_range);
}

}  // namespace bitreplay
