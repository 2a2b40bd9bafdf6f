// pack_signs_above, rsign_input_grad and rsign_param_grad: engine/layers/rsign.py.
#include "bits.h"
#include "second_gradient.h"

namespace bitreplay {
namespace pack_signs_above {

enum { X, THRESHOLD, BITS };
enum { ZERO, POINT };

void check(Checker& c) {
  c.per_sample(X, kStored, 3);
  if (c.ok()) c.vector(THRESHOLD, BR_INT32, c.size(X, 2));
  c.per_sample(BITS, type_bit(BR_UINT64), 3);
  if (c.ok())
    c.require(c.size(X, 0) == c.size(BITS, 0) && c.size(X, 1) == c.size(BITS, 1) &&
                  words_for(c.size(X, 2)) == c.size(BITS, 2), "the bits do not fit the activations");
  c.value(ZERO);
  c.range(POINT, 0, 62);
}

int run(const Call& c) {
  const int64_t channels = c.size(X, 2), words = c.size(BITS, 2), rows = c.samples() * c.size(X, 0) * c.size(X, 1);
  const int32_t* threshold = c.data<int32_t>(THRESHOLD);
  int64_t x[kWord];
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t word = 0; word < words; ++word) {
      const int64_t first = word * kWord, lanes = least(kWord, channels - first);
      uint64_t bits = 0;
      widen(c.type(X), c.bytes(X), row * channels + first, lanes, x);
      for (int64_t i = 0; i < lanes; ++i)
        bits |= uint64_t(left(sub(x[i], c.attribute(ZERO)), c.attribute(POINT)) >= threshold[first + i]) << i;
      c.data<uint64_t>(BITS)[row * words + word] = bits;
    }
  }
  return BR_OK;
}

}  // namespace pack_signs_above

namespace {

// Roles g e x threshold and attributes that begin zero point peak, as both gradients have them.
enum { G, E, X, THRESHOLD };
enum { ZERO, POINT, PEAK };

void check_derivative(Checker& c, int slope_mantissa) {
  c.per_sample(G, kWide, 3);
  c.exponents(E);
  c.per_sample(X, kStored, 3);
  c.same_shape(G, X);
  if (c.ok()) c.vector(THRESHOLD, BR_INT32, c.size(X, 2));
  c.value(ZERO);
  c.range(POINT, 0, 62);
  c.value(PEAK);
  c.mantissa(slope_mantissa);
  c.shift(slope_mantissa + 1);
}

// max(0, peak - |z| slope) for one element of channel `channel`.
int64_t derivative(const Call& c, int64_t x, int64_t channel, int slope_mantissa) {
  const int64_t z = sub(left(sub(x, c.attribute(ZERO)), c.attribute(POINT)), c.data<int32_t>(THRESHOLD)[channel]);
  const int64_t slope = round_shift(mul(absolute(z), c.attribute(slope_mantissa)), c.attribute(slope_mantissa + 1));
  return most(0, sub(c.attribute(PEAK), slope));
}

}  // namespace

namespace rsign_input_grad {

enum { OTHER = 4, OTHER_E, GX, EX };
enum { PEAK_SHIFT = 3, SLOPE_MANTISSA, SLOPE_SHIFT, BOUND, BITS, OTHER_FACTOR, OTHER_SHIFT, OTHER_BOUND };

void check(Checker& c) {
  check_derivative(c, SLOPE_MANTISSA);
  c.per_sample(GX, kStored, 3);
  c.same_shape(G, GX);
  c.exponents(EX);
  c.shift(PEAK_SHIFT);
  c.range(BOUND, 0, 62);
  c.gradient_bits(BITS, GX);
  check_second(c, G, OTHER, OTHER_FACTOR);
}

int run(const Call& c) {
  const int64_t size = c.elements(G), channels = c.size(G, 2);
  for (int64_t n = 0; n < c.samples(); ++n) {
    auto first = [&](int64_t at, int64_t count, int64_t* tile) {
      int64_t x[kTile];
      widen(c.type(G), c.bytes(G), n * size + at, count, tile);
      widen(c.type(X), c.bytes(X), n * size + at, count, x);
      for (int64_t i = 0; i < count; ++i)
        tile[i] = mul(tile[i], derivative(c, x[i], (at + i) % channels, SLOPE_MANTISSA));
    };
    quantise_with_second(c, n, first, c.data<int32_t>(E)[n] - c.attribute(PEAK_SHIFT), c.attribute(BOUND), OTHER,
                         OTHER_FACTOR, c.attribute(BITS), GX);
  }
  return BR_OK;
}

}  // namespace rsign_input_grad

namespace rsign_param_grad {

enum { P = 4, PE };
enum { SLOPE_MANTISSA = 3, SLOPE_SHIFT, DOWN, BOUND };

void check(Checker& c) {
  check_derivative(c, SLOPE_MANTISSA);
  if (c.ok()) c.vector(P, BR_INT64, c.size(G, 2));
  c.vector(PE, BR_INT32, 1);
  c.shift(DOWN);
  c.range(BOUND, 0, 4096);
}

int run(const Call& c) {
  const int64_t channels = c.size(G, 2), pixels = c.size(G, 0) * c.size(G, 1);
  const int32_t* e = c.data<int32_t>(E);
  const int64_t common = merged_exponent(e, c.samples(), c.attribute(BOUND));
  *c.data<int32_t>(PE) = int32_t(common);
  int64_t* p = c.data<int64_t>(P);
  for (int64_t i = 0; i < channels; ++i) p[i] = 0;
  for (int64_t at = 0; at < channels; at += kTile) {
    const int64_t count = least(kTile, channels - at);
    for (int64_t n = 0; n < c.samples(); ++n) {
      if (e[n] <= kNoGradient) continue;
      int64_t sums[kTile] = {}, g[kTile], x[kTile];
      for (int64_t pixel = n * pixels; pixel < (n + 1) * pixels; ++pixel) {
        widen(c.type(G), c.bytes(G), pixel * channels + at, count, g);
        widen(c.type(X), c.bytes(X), pixel * channels + at, count, x);
        for (int64_t i = 0; i < count; ++i) {
          const int64_t product = mul(sub(0, g[i]), derivative(c, x[i], at + i, SLOPE_MANTISSA));
          sums[i] = add(sums[i], round_shift(product, c.attribute(DOWN)));
        }
      }
      for (int64_t i = 0; i < count; ++i) p[at + i] = add(p[at + i], round_shift(sums[i], common - e[n]));
    }
  }
  return BR_OK;
}

}  // namespace rsign_param_grad

extern const Operation kPackSignsAbove = {"pack_signs_above", 110, "x threshold", "bits", "zero point",
                                          pack_signs_above::check, pack_signs_above::run, -1, nullptr, nullptr};
extern const Operation kRSignInputGrad = {
    "rsign_input_grad", 111, "g e x threshold other? other_e?", "gx ex",
    "zero point peak peak_shift slope_mantissa slope_shift bound bits other_factor other_shift other_bound",
    rsign_input_grad::check, rsign_input_grad::run, -1, nullptr, nullptr};
extern const Operation kRSignParamGrad = {
    "rsign_param_grad", 112, "g e x threshold", "p pe", "zero point peak slope_mantissa slope_shift down bound",
    rsign_param_grad::check, rsign_param_grad::run, -1, nullptr, nullptr};

}  // namespace bitreplay
