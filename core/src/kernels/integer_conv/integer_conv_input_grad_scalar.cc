#include "kernels/integer_conv/integer_conv_input_grad.h"

#include "arithmetic/pixels.h"
#include "arithmetic/quant.h"

namespace bitreplay {

void integer_conv_input_grad_scalar(const IntegerConvInputGradArgs& a) {
  const int64_t size = a.height * a.width * a.channels;
  int64_t top = 0;
  for (int64_t o = 0; a.exponents && o < a.outputs; ++o) top = o ? max_of(top, a.exponents[o]) : a.exponents[o];
  const int64_t common = a.exponents ? top - a.room : 0;
  for (int64_t n = 0; n < a.samples; ++n) {
    auto fill = [&](int64_t at, int64_t count, int64_t* tile) {
      for (int64_t i = 0; i < count; ++i) tile[i] = 0;
      over_pixels(at, count, a.channels, [&](int64_t pixel, int64_t channel, int64_t lanes, int64_t offset) {
        over_readers(pixel / a.width, a.kernel, a.stride, a.pad, a.out_h, [&](int64_t out_row, int64_t row) {
          over_readers(pixel % a.width, a.kernel, a.stride, a.pad, a.out_w, [&](int64_t out_column, int64_t column) {
            const int64_t from = ((n * a.out_h + out_row) * a.out_w + out_column) * a.outputs;
            for (int64_t o = 0; o < a.outputs; ++o) {
              int64_t g, w[kTile];
              widen(a.g_type, a.g, from + o, 1, &g);
              if (g == 0) continue;
              if (a.exponents) g = round_shift(left(g, a.room), top - a.exponents[o]);
              widen(a.w_type, a.w, ((o * a.kernel + row) * a.kernel + column) * a.channels + channel, lanes, w);
              for (int64_t i = 0; i < lanes; ++i) tile[offset + i] = add(tile[offset + i], mul(g, w[i]));
            }
          });
        });
      });
    };
    quantise_sample(fill, size, a.e[n] + (common + a.shift), a.bits, a.gx_type, a.gx, n * size, a.ex + n);
  }
}

const IntegerConvInputGrad kIntegerConvInputGradScalar = {[](const IntegerConvInputGradArgs&) { return uint64_t(0); },
                                                          [](const IntegerConvInputGradArgs&, uint8_t*) {},
                                                          integer_conv_input_grad_scalar};

}  // namespace bitreplay
