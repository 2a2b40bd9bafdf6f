// sign_input_grad, tile by tile: loops that the compiler turns into vectors of the instruction set that includes them.
#pragma once
#include "arithmetic/elements.h"
#include "arithmetic/fixedpoint.h"
#include "arithmetic/quant.h"
#include "arithmetic/tiles.h"
#include "kernels/sign/sign_input_grad.h"

namespace bitreplay {

static void sign_input_grad_tiles(const SignInputGradArgs& a) {
  for (int64_t n = 0; n < a.samples; ++n) {
    const int64_t e = a.e[n] - a.peak_shift;
    Alignment both = {e, {0, 0}, {true, false}};
    if (a.other) both = align(e, a.bound, a.other_e[n] - a.other_shift, a.other_bound);
    auto fill = [&](int64_t at, int64_t count, int64_t* tile) {
      int64_t x[kTile];
      widen(a.g_type, a.g, n * a.size + at, count, tile);
      widen(a.x_type, a.x, n * a.size + at, count, x);
      for (int64_t i = 0; i < count; ++i) x[i] = mul(absolute(sub(x[i], a.zero)), a.slope_mantissa);
      round_tile(x, count, a.slope_shift);
      for (int64_t i = 0; i < count; ++i) tile[i] = both.live[0] ? mul(tile[i], max_of(0, sub(a.peak, x[i]))) : 0;
      round_tile(tile, count, both.shift[0]);
      if (!both.live[1]) return;
      widen(a.other_type, a.other, n * a.size + at, count, x);
      for (int64_t i = 0; i < count; ++i) x[i] = mul(x[i], a.other_factor);
      round_tile(x, count, both.shift[1]);
      for (int64_t i = 0; i < count; ++i) tile[i] = add(tile[i], x[i]);
    };
    quantise_sample(fill, a.size, both.exponent, a.bits, a.gx_type, a.gx, n * a.size, a.ex + n);
  }
}

}  // namespace bitreplay
