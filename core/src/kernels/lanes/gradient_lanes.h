// Gradients in 32-bit lanes with 64-bit products (lanes32.h): to the law's bits per sample, and sums per channel.
#pragma once
#include "arithmetic/quant.h"
#include "kernels/lanes/lanes32.h"

#if BR_LANES32

namespace bitreplay {
namespace {

inline int64_t largest_of(Wide values) {
  int64_t each[kLanes], largest = 0;
  store_wide(each, values);
  for (int64_t lane = 0; lane < kLanes; ++lane) largest = max_of(largest, each[lane]);
  return largest;
}

// The second half of quantise_sample (quant.h) of a map whose largest |value| is known. make(Whole or Rest, channel)
// prepares a column of channels; what it returns gives the exact values at an element.
template <class T, class Make>
inline void round_columns(Make make, int64_t pixels, int64_t channels, int64_t largest, int64_t exponent, int64_t bits,
                          T* gx, int32_t* ex) {
  const int64_t shift = quantising_shift(largest, bits);
  *ex = quantised_exponent(largest, exponent, shift);
  const WideRound round(shift);
  const auto columns = [&](auto low) {
    over_columns(pixels, channels, [&](auto width, int64_t first, int64_t rows, int64_t channel) {
      const auto values = make(width, channel);
      for (int64_t row = first; row < first + rows; ++row) {
        const int64_t at = row * channels + channel;
        width.store(gx + at, low(values(at)));
      }
    });
  };
  const Wide half = round.half;
  const auto upper = [=](Wide x) { return high_lanes(less_one_below(x, all_wide(0)) + half) >> (shift - 32); };
  const auto lower = [=](Wide x) { return low_right(less_one_below(x, all_wide(0)) + half, shift); };
  const auto whole = [=](Wide x) { return low_lanes(round(x)); };
  const bool outside = shift <= 0 || shift > kLargestShift;
#ifdef __wasm__  // a module is fetched before it runs: one loop for every shift
  columns([=](Wide x) { return outside ? whole(x) : shift < 32 ? lower(x) : upper(x); });
#else  // The shift is tested once, not for every element.
  if (outside) return columns(whole);
  if (shift < 32) return columns(lower);
  columns(upper);
#endif
}

// quantise_sample of a map. The values are made twice: for the largest, and to be rounded.
template <class T, class Make>
inline void quantise_columns(Make make, int64_t pixels, int64_t channels, int64_t exponent, int64_t bits, T* gx,
                             int32_t* ex) {
  Wide largest = all_wide(0);
  over_columns(pixels, channels, [&](auto width, int64_t first, int64_t rows, int64_t channel) {
    const auto values = make(width, channel);
    Wide here = all_wide(0);
    for (int64_t row = first; row < first + rows; ++row)
      here = larger(here, magnitude(values(row * channels + channel)));
    largest = larger(largest, here);
  });
  round_columns(make, pixels, channels, largest_of(largest), exponent, bits, gx, ex);
}

// Sums over pixels, brought to a common exponent and added over samples. sums(n, Whole or Rest, channel, terms) leaves
// sample n's sums; `kTerms` of them go to p[k], where that is not null, rounded by common[k] - e[n].
template <int kTerms, class Sums>
inline void merge_columns(Sums sums, int64_t samples, int64_t channels, const int32_t* e, const int64_t* common,
                          int64_t* const* p) {
  constexpr int64_t kColumns = 8;
  for (int64_t tile = 0; tile < channels; tile += kColumns * kLanes) {
    const int64_t columns = min_of(kColumns, (channels - tile + kLanes - 1) / kLanes);
    Wide totals[kColumns][kTerms];
    for (int64_t column = 0; column < columns; ++column)
      for (int k = 0; k < kTerms; ++k) totals[column][k] = all_wide(0);
    auto with_width = [&](int64_t column, auto body) {
      const int64_t channel = tile + column * kLanes;
      if (channel + kLanes <= channels) body(Whole(), channel);
      else body(Rest{channels - channel}, channel);
    };
    for (int64_t n = 0; n < samples; ++n) {
      if (e[n] <= kNoGradient) continue;
      for (int64_t column = 0; column < columns; ++column) {
        Wide terms[kTerms];
        with_width(column, [&](auto width, int64_t channel) { sums(n, width, channel, terms); });
        for (int k = 0; k < kTerms; ++k) totals[column][k] = totals[column][k] + WideRound(common[k] - e[n])(terms[k]);
      }
    }
    for (int64_t column = 0; column < columns; ++column)
      with_width(column, [&](auto width, int64_t channel) {
        for (int k = 0; k < kTerms; ++k)
          if (p[k]) width.store_wide(p[k] + channel, totals[column][k]);
      });
  }
}

// Calls f(T()) with the C type of a stored width.
template <class F>
inline bool with_stored(int type, F f) {
  if (type == BR_INT8) return f(int8_t());
  if (type == BR_INT16) return f(int16_t());
  return f(int32_t());
}

}  // namespace
}  // namespace bitreplay

#endif
