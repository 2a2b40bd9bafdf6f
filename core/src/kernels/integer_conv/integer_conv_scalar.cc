#include "kernels/integer_conv/integer_conv.h"

#include "arithmetic/fixedpoint.h"
#include "arithmetic/sliding_window.h"
#include "bitreplay.h"

namespace bitreplay {
namespace {

template <class X, class W>
void run_as(const IntegerConvArgs& a) {
  const W* weights = static_cast<const W*>(a.w);
  const int64_t pixels = a.out_h * a.out_w, zero = a.x_zero;
  // A product of 32 bits each is one instruction where 64 bits are two words.
  const bool short_factors = sizeof(X) < 4 && absolute(zero) < 1 << 24 && a.channels * a.kernel < 1 << 30;
  int32_t* sums = a.sums;
  for (int64_t q = 0; q < a.samples * pixels; ++q) {
    const int64_t out_row = q % pixels / a.out_w, out_column = q % a.out_w;
    const TapRange rows = taps_inside(out_row, a.stride, a.pad, a.kernel, a.height);
    const TapRange columns = taps_inside(out_column, a.stride, a.pad, a.kernel, a.width);
    const X* sample = static_cast<const X*>(a.x) + q / pixels * a.height * a.width * a.channels;
    const int64_t run = (columns.last - columns.first) * a.channels;  // pixels and taps of one row lie side by side
    for (int64_t o = 0; o < a.outputs; ++o) {
      uint64_t total = 0;
      for (int64_t row = rows.first; row < rows.last; ++row) {
        const int64_t y = out_row * a.stride + row - a.pad, left = out_column * a.stride + columns.first - a.pad;
        const X* x = sample + (y * a.width + left) * a.channels;
        const W* w = weights + ((o * a.kernel + row) * a.kernel + columns.first) * a.channels;
        if (short_factors) {
          for (int32_t i = 0; i < int32_t(run); ++i) total += uint64_t(int64_t(x[i] - int32_t(zero)) * int32_t(w[i]));
        } else {
          for (int64_t i = 0; i < run; ++i) total += uint64_t(int64_t(x[i]) - zero) * uint64_t(int64_t(w[i]));
        }
      }
      *sums++ = int32_t(round_shift(int64_t(total), a.down));
    }
  }
}

template <class X>
void run_x(const IntegerConvArgs& a) {
  if (a.w_type == BR_INT8) return run_as<X, int8_t>(a);
  if (a.w_type == BR_INT16) return run_as<X, int16_t>(a);
  return run_as<X, int32_t>(a);
}

}  // namespace

void integer_conv_scalar(const IntegerConvArgs& a) {
  if (a.x_type == BR_INT8) return run_x<int8_t>(a);
  if (a.x_type == BR_INT16) return run_x<int16_t>(a);
  return run_x<int32_t>(a);
}

const IntegerConv kIntegerConvScalar = {[](const IntegerConvArgs&) { return uint64_t(0); },
                                        [](const IntegerConvArgs&, uint8_t*) {}, integer_conv_scalar};

}  // namespace bitreplay
