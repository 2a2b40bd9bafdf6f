// conv_operand, learned_conv, learned_conv_update and integer_conv_input_grad: engine/layers/learned_conv.py and
// integer_conv.py.
#include "arithmetic/quant.h"
#include "arithmetic/sgd.h"
#include "arithmetic/sliding_window.h"
#include "machine/operation.h"
#include "operations/window.h"

namespace bitreplay {
namespace conv_operand {

enum { WEIGHTS, OPERAND, EXPONENTS };
enum { BITS };

void check(Checker& c) {
  if (!c.ok()) return;
  c.whole(WEIGHTS, type_bit(BR_INT32), int(c.tensor(WEIGHTS).info.dimensions));
  c.whole(OPERAND, kStored, int(c.tensor(WEIGHTS).info.dimensions));
  c.same_shape(WEIGHTS, OPERAND);
  if (c.ok()) c.require(c.tensor(WEIGHTS).info.dimensions >= 1, "the weights have no outputs");
  if (c.ok()) c.vector(EXPONENTS, BR_INT32, c.size(WEIGHTS, 0));
  c.gradient_bits(BITS, OPERAND);
}

int run(const Call& c) {
  const int64_t rows = c.size(WEIGHTS, 0), size = c.elements(WEIGHTS) / rows;
  const Range own = c.share(rows);
  int32_t* exponents = c.data<int32_t>(EXPONENTS);
  for (int64_t row = own.first; row < own.last; ++row) {
    auto fill = [&](int64_t at, int64_t count, int64_t* tile) {
      widen(BR_INT32, c.bytes(WEIGHTS), row * size + at, count, tile);
    };
    quantise_sample(fill, size, 0, c.attribute(BITS), c.type(OPERAND), c.bytes(OPERAND), row * size, exponents + row);
    exponents[row] = int32_t(max_of(exponents[row], 0));
  }
  return BR_OK;
}

}  // namespace conv_operand

namespace learned_conv {

enum { X, W, EXPONENTS, SUMS };
enum { X_ZERO, STRIDE, PAD, DOWN, LIMIT };

void check(Checker& c) {
  c.per_sample(X, kStored, 3);
  c.whole(W, kStored, 4);
  c.per_sample(SUMS, type_bit(BR_INT32), 3);
  check_convolution(c, W, X, SUMS);
  if (c.ok()) c.vector(EXPONENTS, BR_INT32, c.size(W, 0));
  c.value(X_ZERO);
  c.shift(DOWN);
  c.range(LIMIT, 0, kInt32Max);
}

int run(const Call& c) {
  const int64_t height = c.size(X, 0), width = c.size(X, 1), channels = c.size(X, 2);
  const int64_t outputs = c.size(W, 0), kernel = c.size(W, 1), out_w = c.size(SUMS, 1),
                pixels = c.size(SUMS, 0) * out_w;
  const int64_t stride = c.attribute(STRIDE), pad = c.attribute(PAD), limit = c.attribute(LIMIT);
  for (int64_t p = 0; p < c.samples() * pixels; ++p) {
    const int64_t out_row = p % pixels / out_w, out_column = p % out_w;
    const TapRange rows = taps_inside(out_row, stride, pad, kernel, height);
    const TapRange columns = taps_inside(out_column, stride, pad, kernel, width);
    for (int64_t first = 0; first < outputs; first += kTile) {
      const int64_t lanes = min_of(kTile, outputs - first);
      int64_t total[kTile] = {}, x[kTile], w[kTile];
      for (int64_t row = rows.first; row < rows.last; ++row) {
        for (int64_t column = columns.first; column < columns.last; ++column) {
          const int64_t r = out_row * stride + row - pad, k = out_column * stride + column - pad;
          for (int64_t at = 0; at < channels; at += kTile) {
            const int64_t count = min_of(kTile, channels - at);
            widen(c.type(X), c.bytes(X), ((p / pixels * height + r) * width + k) * channels + at, count, x);
            for (int64_t i = 0; i < count; ++i) x[i] = sub(x[i], c.attribute(X_ZERO));
            for (int64_t o = 0; o < lanes; ++o) {
              widen(c.type(W), c.bytes(W), (((first + o) * kernel + row) * kernel + column) * channels + at, count, w);
              int64_t sum = 0;
              for (int64_t i = 0; i < count; ++i) sum = add(sum, mul(x[i], w[i]));
              total[o] = add(total[o], sum);
            }
          }
        }
      }
      for (int64_t o = 0; o < lanes; ++o) {
        const int64_t shift = c.attribute(DOWN) - c.data<int32_t>(EXPONENTS)[first + o];
        c.data<int32_t>(SUMS)[p * outputs + first + o] = int32_t(saturate(round_shift(total[o], shift), -limit, limit));
      }
    }
  }
  return BR_OK;
}

}  // namespace learned_conv

namespace integer_conv_input_grad {

enum { G, E, W, EXPONENTS, GX, EX };
enum { STRIDE, PAD, ROOM, DOWN, BITS };

void check(Checker& c) {
  c.input_grad();
  c.whole(W, kStored, 4);
  check_convolution(c, W, GX, G);
  if (c.has(EXPONENTS) && c.ok()) c.vector(EXPONENTS, BR_INT32, c.size(W, 0));
  c.range(ROOM, 0, 62);
  c.shift(DOWN);
}

IntegerConvInputGradArgs arguments(const Call& c) {
  IntegerConvInputGradArgs a = window_arguments<IntegerConvInputGradArgs>(c, GX, W, G, STRIDE, PAD);
  a.channels = c.size(GX, 2);
  a.room = c.attribute(ROOM);
  a.shift = -c.attribute(DOWN);
  a.bits = c.attribute(BITS);
  a.g_type = c.type(G);
  a.w_type = c.type(W);
  a.gx_type = c.type(GX);
  a.has_exponents = c.has(EXPONENTS);
  return a;
}

uint64_t packed_weights_bytes(const Call& c) {
  return c.kernels().integer_conv_input_grad.packed_weights_bytes(arguments(c));
}

void pack_weights(const Call& c, uint8_t* packed_weights) {
  IntegerConvInputGradArgs a = arguments(c);
  a.w = c.bytes(W);
  c.kernels().integer_conv_input_grad.pack_weights(a, packed_weights);
}

int run(const Call& c) {
  IntegerConvInputGradArgs a = arguments(c);
  a.g = c.bytes(G);
  a.e = c.data<int32_t>(E);
  a.w = c.bytes(W);
  a.exponents = c.data<int32_t>(EXPONENTS);
  a.packed_weights = c.packed_weights();
  a.gx = c.bytes(GX);
  a.ex = c.data<int32_t>(EX);
  c.kernels().integer_conv_input_grad.run(a);
  return BR_OK;
}

}  // namespace integer_conv_input_grad

namespace learned_conv_update {

enum { WEIGHTS, G, E, X };
enum { X_ZERO, STRIDE, PAD, BOUND, MANTISSA, SHIFT, NUMBER };

void check(Checker& c) {
  c.whole(WEIGHTS, type_bit(BR_INT32), 4);
  c.per_sample(G, kStored, 3);
  c.exponents(E);
  c.per_sample(X, kStored, 3);
  check_convolution(c, WEIGHTS, X, G);
  c.value(X_ZERO);
  c.range(BOUND, 0, 4096);
  c.multiplier();
  c.range(NUMBER, 0, kInt32Max);
}

int run(const Call& c) {
  const int64_t height = c.size(X, 0), width = c.size(X, 1), channels = c.size(X, 2);
  const int64_t out_h = c.size(G, 0), out_w = c.size(G, 1), outputs = c.size(G, 2), kernel = c.size(WEIGHTS, 1);
  const int64_t stride = c.attribute(STRIDE), pad = c.attribute(PAD);
  const int32_t* e = c.data<int32_t>(E);
  const int64_t common = merged_exponent(e, c.samples(), c.attribute(BOUND));
  const Step step = step_of(c.attribute(MANTISSA), c.attribute(SHIFT), c.run, c.attribute(NUMBER));
  const Range own = c.share(outputs * kernel * kernel);
  for (int64_t weight = own.first; weight < own.last; ++weight) {
    const int64_t o = weight / (kernel * kernel), row = weight / kernel % kernel, column = weight % kernel;
    for (int64_t at = 0; at < channels; at += kTile) {
      const int64_t count = min_of(kTile, channels - at);
      int64_t total[kTile] = {}, x[kTile];
      for (int64_t n = 0; n < c.samples(); ++n) {
        if (e[n] <= kNoGradient) continue;
        int64_t sums[kTile] = {};
        for (int64_t pixel = 0; pixel < out_h * out_w; ++pixel) {
          const int64_t r = pixel / out_w * stride + row - pad, k = pixel % out_w * stride + column - pad;
          int64_t g;
          widen(c.type(G), c.bytes(G), (n * out_h * out_w + pixel) * outputs + o, 1, &g);
          if (g == 0 || r < 0 || r >= height || k < 0 || k >= width) continue;
          widen(c.type(X), c.bytes(X), ((n * height + r) * width + k) * channels + at, count, x);
          for (int64_t i = 0; i < count; ++i) sums[i] = add(sums[i], mul(g, sub(x[i], c.attribute(X_ZERO))));
        }
        for (int64_t i = 0; i < count; ++i) total[i] = add(total[i], round_shift(sums[i], common - e[n]));
      }
      int32_t* master = c.data<int32_t>(WEIGHTS) + weight * channels + at;
      for (int64_t i = 0; i < count; ++i)
        master[i] = descend(master[i], total[i], common, step, uint32_t(weight * channels + at + i));
    }
  }
  return BR_OK;
}

}  // namespace learned_conv_update

extern const Operation kConvOperand = {.name = "conv_operand",
                                       .code = 51,
                                       .reads = "weights",
                                       .writes = "operand exponents",
                                       .attributes = "bits",
                                       .check = conv_operand::check,
                                       .run = conv_operand::run,
                                       .in_parts = true};
extern const Operation kLearnedConv = {.name = "learned_conv",
                                       .code = 52,
                                       .reads = "x w exponents",
                                       .writes = "sums",
                                       .attributes = "x_zero stride pad down limit",
                                       .check = learned_conv::check,
                                       .run = learned_conv::run};
extern const Operation kIntegerConvInputGrad = {.name = "integer_conv_input_grad",
                                                .code = 53,
                                                .reads = "g e w exponents?",
                                                .writes = "gx ex",
                                                .attributes = "stride pad room down bits",
                                                .check = integer_conv_input_grad::check,
                                                .run = integer_conv_input_grad::run,
                                                .weights = integer_conv_input_grad::W,
                                                .packed_weights_bytes = integer_conv_input_grad::packed_weights_bytes,
                                                .pack_weights = integer_conv_input_grad::pack_weights};
extern const Operation kLearnedConvUpdate = {.name = "learned_conv_update",
                                             .code = 54,
                                             .reads = "weights g e x",
                                             .writes = "weights",
                                             .attributes = "x_zero stride pad bound mantissa shift number",
                                             .check = learned_conv_update::check,
                                             .run = learned_conv_update::run,
                                             .in_parts = true};

}  // namespace bitreplay
