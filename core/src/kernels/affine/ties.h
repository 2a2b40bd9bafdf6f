// Where an affine's sums are halfway between two results. Ties go away from 0: a sum there is one less than the number
// rounded down where it is negative. Where all ties of a channel have one sign, its constant can say so.
#pragma once
#include "arithmetic/fixedpoint.h"

namespace bitreplay {
namespace {

// Which sums from `least` to `most` make x slope + constant a multiple of 2^bits: none, some of one sign or the other
// of x slope + constant - added, or of both. With slope = 2^t odd there are none unless 2^t divides the constant; then
// x = -(constant / 2^t) / odd modulo 2^(bits - t). The inverse of an odd number modulo 2^3 is itself, and each step
// doubles the bits that are right: 96 after five.
enum class Ties { none, above, below, both };
inline Ties ties_of(int64_t slope, int64_t constant, int64_t added, int64_t bits, int64_t least, int64_t most) {
  const int64_t t = slope ? __builtin_ctzll(uint64_t(slope)) : 64;
  if (constant & ((int64_t(1) << min_of(t, bits)) - 1)) return Ties::none;
  if (t < bits) {
    const uint64_t odd = uint64_t(slope >> t), period = uint64_t(1) << (bits - t);
    uint64_t inverse = odd;
    for (int step = 0; step < 5; ++step) inverse *= 2 - odd * inverse;
    const uint64_t x = 0 - uint64_t(constant >> t) * inverse;
    least += int64_t((x - uint64_t(least)) & (period - 1));
    most -= int64_t((uint64_t(most) - x) & (period - 1));
  }
  if (least > most) return Ties::none;
  const bool low = least * slope + constant < added, high = most * slope + constant < added;
  return low != high ? Ties::both : low ? Ties::below : Ties::above;
}

}  // namespace
}  // namespace bitreplay
