// affine of a convolution's sums to bytes, made ready when the program is opened, for sets whose wide products come
// in the order of channels (NEON, WebAssembly): a result is the high half of x slope + constant, shifted by `down`.
//
// All is made 2^up times as large where the shift is below 32; the slopes have room for it. The constant has b, half of
// the last unit and the result's zero, and one less where ties lie below 0 (ties.h). Not for shortcuts, nor where a
// channel has ties of both signs: `fits` says so.
#pragma once
#include "bitreplay.h"
#include "kernels/affine/affine.h"
#include "kernels/affine/ties.h"

namespace bitreplay {
namespace {

struct AffineInOrder {
  static constexpr int64_t kChannels = 8;

  struct Column {
    int64_t constant[kChannels];
    int32_t slope[kChannels];
  };

  int64_t fits, down;
  Column columns[1];

  static uint64_t bytes(int64_t channels) {
    return sizeof(AffineInOrder) + uint64_t(channels / kChannels) * sizeof(Column);
  }

  // For the work of `a` where every |x| <= largest. There is room for bytes().
  void prepare(const AffineArgs& a, int64_t largest) {
    constexpr int64_t limit = int64_t(1) << 61;
    const int64_t up = max_of(32 - a.shift, 0), bits = max_of(a.shift, 32);
    down = bits - 32;
    fits = a.channels % kChannels == 0 && a.x_type == BR_INT32 && a.y_type == BR_INT8 && a.x_zero == 0 &&
           a.residual_type < 0 && a.shift >= 20 && a.shift <= 50 && largest < int64_t(1) << 31 && a.low >= INT8_MIN &&
           a.low <= a.high && a.high <= INT8_MAX && absolute(a.y_zero) <= 1 << 8;
    const int64_t added = fits ? (int64_t(1) << (bits - 1)) + a.y_zero * (int64_t(1) << bits) : 0;
    for (int64_t i = 0; fits && i < a.channels; ++i) {
      const int64_t slope = left(a.a[i], up);
      fits = slope == int32_t(slope) && absolute(a.b[i]) >= 0 && absolute(a.b[i]) <= limit / 2 >> up &&
             largest * absolute(slope) <= limit / 2;
      if (!fits) return;
      const int64_t constant = left(a.b[i], up) + added;
      const Ties ties = ties_of(slope, constant, added, bits, -largest, largest);
      fits = ties != Ties::both;
      columns[i / kChannels].slope[i % kChannels] = int32_t(slope);
      columns[i / kChannels].constant[i % kChannels] = constant - (ties == Ties::below);
    }
  }
};

}  // namespace
}  // namespace bitreplay
