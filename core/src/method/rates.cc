// The rate of each step of an experience: fractions are exact, as those of engine/method.py, the reference.
//
//     first = given, or min(gain / power * sqrt(20 / steps), most)          the root has 32 bits behind the point
//     step k of n: first (n - k) / n                                        as a multiplier, docs/law.md section 2
#include "bitreplay_method.h"
#include "method/root.h"
#include "method/wide.h"

namespace bitreplay {
namespace {

constexpr uint64_t kReferenceSteps = 20, kMaxSteps = uint64_t(1) << 48, kMaxWithFlips = 10;  // 1 / 10
constexpr int kRootPoint = 32, kMaxBits = 192, kMantissaBits = 31;

struct Fraction {
  Wide top, bottom;

  // Text such as 3/400 or 1.
  bool read(const char* text, size_t length) {
    size_t at = 0;
    bottom = Wide(1);
    if (!number(text, length, &at, &top)) return false;
    if (at < length && text[at] == '/') {
      ++at;
      if (!number(text, length, &at, &bottom)) return false;
    }
    return at == length && top.bits() && bottom.bits();
  }

  static bool number(const char* text, size_t length, size_t* at, Wide* value) {
    *value = Wide(0);
    const size_t start = *at;
    for (; *at < length && text[*at] >= '0' && text[*at] <= '9'; ++*at) {
      value->times(10);
      value->plus(Wide(uint64_t(text[*at] - '0')));
      if (value->bits() > kMaxBits) return false;
    }
    return *at > start;
  }

  void clamp_to(uint64_t parts) {  // 1 / parts
    Wide limit = bottom, scaled = top;
    scaled.times(parts);
    if (!limit.below(scaled)) return;
    top = Wide(1);
    bottom = Wide(parts);
  }
};

// The quotient of 2^shift top / bottom has `kMantissaBits` bits, rounded to nearest, ties up: both are positive.
void multiplier(Fraction f, int64_t* mantissa, int64_t* shift) {
  int up = kMantissaBits - 1 + f.bottom.bits() - f.top.bits();
  Wide top = f.top, bottom = f.bottom;
  if (up > 0) top.shift(up);
  else bottom.shift(-up);
  Wide divisor = bottom;
  divisor.shift(kMantissaBits - 1);
  if (top.below(divisor)) {
    ++up;
    top.shift(1);
  }
  uint64_t mantissa_bits = 0;
  for (int bit = kMantissaBits - 1; bit >= 0; --bit) {  // `divisor` is bottom 2^bit
    mantissa_bits <<= 1;
    if (!top.below(divisor)) {
      top.minus(divisor);
      mantissa_bits |= 1;
    }
    if (bit) divisor.halve();
  }
  top.shift(1);
  mantissa_bits += !top.below(bottom);
  const bool carried = mantissa_bits >> kMantissaBits;
  *mantissa = int64_t(carried ? mantissa_bits >> 1 : mantissa_bits);
  *shift = carried ? up - 1 : up;
}

}  // namespace
}  // namespace bitreplay

using namespace bitreplay;

int br_rate(const char* top_bottom, size_t length, int kind, uint64_t done, uint64_t steps, int64_t* mantissa,
            int64_t* shift) {
  if (!top_bottom || !mantissa || !shift || done >= steps || steps >= kMaxSteps) return BR_BAD_ARGUMENT;
  if (kind < BR_RATE_GIVEN || kind > BR_RATE_FITTED_WITH_FLIPS) return BR_BAD_ARGUMENT;
  Fraction rate;
  if (!rate.read(top_bottom, length)) return BR_BAD_ARGUMENT;
  if (kind != BR_RATE_GIVEN) {
    rate.top.times(root(quotient({kReferenceSteps, 0}, steps)));
    rate.bottom.shift(kRootPoint);
    rate.clamp_to(kind == BR_RATE_FITTED ? 1 : kMaxWithFlips);
  }
  rate.top.times(steps - done);
  rate.bottom.times(steps);
  multiplier(rate, mantissa, shift);
  return BR_OK;
}
