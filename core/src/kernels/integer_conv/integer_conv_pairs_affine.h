// Sums of integer_conv_pairs.h that go straight into an affine (affine_of_sums.h): AVX2 and AVX-512.
#pragma once
#include "kernels/affine/affine_of_sums.h"
#include "kernels/integer_conv/integer_conv_pairs.h"

namespace bitreplay {
namespace {

template <class PairLanes, class X, bool kRaise, bool kResidual>
void run_pairs_into(const IntegerConvArgs& a, const AffineArgs& args, const AffineOfSums& affine) {
  constexpr int64_t group = 2 * kLanes;
  static_assert(kLanes == PairLanes::kLanes, "the same vectors");
  AffineOfSums::Finish<kRaise, kResidual> finish(affine);
  over_pair_sums<PairLanes, X>(a, [&](const PixelSums<PairLanes>& pixel, int64_t q, int64_t count, int64_t output) {
    const int64_t channels = a.outputs, at = q * channels + output, there = min_of(group, channels - output);
    int8_t* to = static_cast<int8_t*>(args.y) + at;
    const int8_t* residual = static_cast<const int8_t*>(args.residual) + (kResidual ? at : 0);
    auto with = finish;
    const auto first = affine.column(output / kLanes);
    const auto second = there > kLanes ? affine.column(output / kLanes + 1) : first;
    const auto put = [&](int64_t p, int64_t outputs) __attribute__((always_inline)) {
      const Lanes own = {pixel.of[p][0]}, next = {pixel.of[p][1]};
      const Lanes low = kResidual ? load_some(residual + p * channels, outputs) : own;
      const Lanes high = kResidual ? load_some(residual + p * channels + kLanes, outputs - kLanes) : next;
      AffineOfSums::store(with, AffineOfSums::exact(with, first, own, low),
                          AffineOfSums::exact(with, second, next, high), to + p * channels, outputs);
    };
    if (there == group && count == kPixelsAtATime) {
#pragma GCC unroll 4
      for (int64_t p = 0; p < kPixelsAtATime; ++p) put(p, group);
    } else {
      for (int64_t p = 0; p < count; ++p) put(p, there);
    }
    finish.outside = with.outside;
  });
  affine.count(finish.outside);
}

template <class PairLanes, class X>
void run_pairs_into(const IntegerConvArgs& a, const AffineArgs& args, const AffineOfSums& affine) {
  if (args.residual && affine.raises()) return run_pairs_into<PairLanes, X, true, true>(a, args, affine);
  if (args.residual) return run_pairs_into<PairLanes, X, false, true>(a, args, affine);
  if (affine.raises()) return run_pairs_into<PairLanes, X, true, false>(a, args, affine);
  run_pairs_into<PairLanes, X, false, false>(a, args, affine);
}

template <class PairLanes>
bool run_pairs_affine(const IntegerConvArgs& a, const AffineArgs& args) {
  if (!fits_pairs(a, 2 * kLanes) || a.down) return false;
  const int64_t x = a.x_type == BR_INT8 ? absolute(a.x_zero) + 128 : 1 << 15, w = a.w_type == BR_INT8 ? 128 : 1 << 15;
  const AffineOfSums affine(args, row_of(a) * x * w);
  if (!affine.fits()) return false;
  if (a.x_type == BR_INT8) run_pairs_into<PairLanes, int8_t>(a, args, affine);
  else run_pairs_into<PairLanes, int16_t>(a, args, affine);
  return true;
}

}  // namespace
}  // namespace bitreplay
