// affine of sums of 16 bits to bytes by pairs of 16-bit products (pairs_of_sums.h). Tells whether it did the work: it
// does where every number provably fits, so that the results are those of affine_tiles.h.
#pragma once
#include "kernels/affine/pairs_of_sums.h"

namespace bitreplay {
namespace {

#if BR_PAIRS

constexpr int64_t kPairChannels = 512;  // whose numbers are held at a time where they were not made before

// Some rows of the channels of a column; how many results left the range. The channels behind the last whole vector are
// apart, since they would take registers from the others.
template <bool kResidual>
__attribute__((noinline)) int64_t pair_rows(const AffineArgs& a, ClippedTo clipped, int64_t start, int64_t rows,
                                            int64_t channel, const PairColumn& column) {
  PairResults results(a, clipped);
  const PairResults::Numbers numbers(column);
  const int16_t* x = static_cast<const int16_t*>(a.x);
  const int64_t channels = a.channels, last = (start + rows) * channels;
  for (int64_t at = start * channels + channel; at < last; at += channels)
    results.make<kResidual>(load_words(x + at), at, numbers);
  return results.outside();
}

__attribute__((noinline)) int64_t pair_rest(const AffineArgs& a, ClippedTo clipped, int64_t start, int64_t rows,
                                            int64_t channel, const PairColumn& column) {
  PairResults results(a, clipped);
  const int64_t count = a.channels - channel, last = (start + rows) * a.channels;
  const int16_t* x = static_cast<const int16_t*>(a.x);
  for (int64_t at = start * a.channels + channel; at < last; at += a.channels)
    results.make_some(PairResults::load_some(x + at, count), at, count, PairResults::Numbers(column));
  return results.outside();
}

bool affine_pairs(const AffineArgs& a, ClippedTo clipped = {INT16_MIN, INT16_MAX}) {
  const PairsOfSums* const prepared = reinterpret_cast<const PairsOfSums*>(a.prepared);
  if (prepared ? !prepared->fits : !PairsOfSums::serves(a)) return false;
  PairColumn room[kPairChannels / kWords];
  int64_t outside = 0;
  for (int64_t first = 0; first < a.channels; first += kPairChannels) {
    const int64_t channels = min_of(kPairChannels, a.channels - first);
    const PairColumn* const columns = prepared ? prepared->columns + first / kWords : room;
    if (!prepared) PairsOfSums::fill(a, first, channels, room);
    for (int64_t start = 0; start < a.rows; start += kRowsTogether) {
      const int64_t rows = min_of(kRowsTogether, a.rows - start);
      for (int64_t channel = 0; channel < channels; channel += kWords) {
        const auto run = channel + kWords > channels ? pair_rest : a.residual ? pair_rows<true> : pair_rows<false>;
        outside += run(a, clipped, start, rows, first + channel, columns[channel / kWords]);
      }
    }
  }
  *a.saturated = add(*a.saturated, outside);
  return true;
}

#endif

}  // namespace
}  // namespace bitreplay
