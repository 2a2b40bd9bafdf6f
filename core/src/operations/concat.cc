// concat and concat_input_grad: engine/layers/concat.py.
#include "operations.h"
#include "pixels.h"
#include "quant.h"

namespace bitreplay {
namespace {

// `part` is channels first .. first + its own of `whole`.
void check_part(Checker& c, int part, int whole, int first) {
  c.per_sample(part, kStored, 3);
  c.per_sample(whole, kStored, 3);
  if (!c.ok()) return;
  c.require(c.size(part, 0) == c.size(whole, 0) && c.size(part, 1) == c.size(whole, 1), "the maps differ in size");
  c.require(c.attribute(first) >= 0 && c.attribute(first) <= c.size(whole, 2) - c.size(part, 2),
            "the part lies outside the channels");
}

}  // namespace

namespace concat {

enum { X, Y };
enum { FIRST, X_ZERO, MANTISSA, SHIFT, Y_ZERO, LOW, HIGH };

void check(Checker& c) {
  check_part(c, X, Y, FIRST);
  c.value(X_ZERO);
  c.mantissa(MANTISSA);
  c.shift(SHIFT);
  c.value(Y_ZERO);
  c.value(LOW);
  c.value(HIGH);
}

int run(const Call& c) {
  const int64_t channels = c.size(X, 2), pixels = c.samples() * c.size(X, 0) * c.size(X, 1);
  int64_t x[kTile];
  for (int64_t pixel = 0; pixel < pixels; ++pixel) {
    for (int64_t at = 0; at < channels; at += kTile) {
      const int64_t count = least(kTile, channels - at);
      widen(c.type(X), c.bytes(X), pixel * channels + at, count, x);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t y = round_shift(mul(sub(x[i], c.attribute(X_ZERO)), c.attribute(MANTISSA)), c.attribute(SHIFT));
        x[i] = saturate(add(y, c.attribute(Y_ZERO)), c.attribute(LOW), c.attribute(HIGH));
      }
      narrow(c.type(Y), x, count, c.bytes(Y), pixel * c.size(Y, 2) + c.attribute(FIRST) + at);
    }
  }
  return BR_OK;
}

}  // namespace concat

namespace concat_input_grad {

enum { G, E, GX, EX };
enum { FIRST, MANTISSA, SHIFT, BITS };

void check(Checker& c) {
  check_part(c, GX, G, FIRST);
  c.exponents(E);
  c.exponents(EX);
  c.mantissa(MANTISSA);
  c.shift(SHIFT);
  c.gradient_bits(BITS, GX);
}

int run(const Call& c) {
  const int64_t size = c.elements(GX), channels = c.size(GX, 2), all = c.size(G, 2);
  for (int64_t n = 0; n < c.samples(); ++n) {
    auto fill = [&](int64_t at, int64_t count, int64_t* tile) {
      over_pixels(at, count, channels, [&](int64_t pixel, int64_t channel, int64_t lanes, int64_t offset) {
        const int64_t from = n * c.elements(G) + pixel * all + c.attribute(FIRST) + channel;
        widen(c.type(G), c.bytes(G), from, lanes, tile + offset);
      });
      for (int64_t i = 0; i < count; ++i) tile[i] = mul(tile[i], c.attribute(MANTISSA));
    };
    quantise_sample(fill, size, c.data<int32_t>(E)[n] - c.attribute(SHIFT), c.attribute(BITS), c.type(GX),
                    c.bytes(GX), n * size, c.data<int32_t>(EX) + n);
  }
  return BR_OK;
}

}  // namespace concat_input_grad

extern const Operation kConcat = {"concat", 150, "x y", "y", "first x_zero mantissa shift y_zero low high",
                                  concat::check, concat::run, -1, nullptr, nullptr};
extern const Operation kConcatInputGrad = {"concat_input_grad", 151, "g e", "gx ex", "first mantissa shift bits",
                                           concat_input_grad::check, concat_input_grad::run, -1, nullptr, nullptr};

}  // namespace bitreplay
