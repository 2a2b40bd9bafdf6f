// What a depthwise convolution of bytes prepares of the affine behind it (affine_of_sums.h): AVX2 and AVX-512.
#pragma once
#include "kernels/affine/affine_of_sums.h"
#include "kernels/integer_conv/depthwise_conv.h"

namespace bitreplay {
namespace {

template <Order kOrder>
uint64_t prepared_bytes(const DepthwiseConvArgs& a) {
  return AffineOfSums::bytes(a.affine->channels);
}

template <Order kOrder>
void prepare_affine(const DepthwiseConvArgs& a, uint8_t* prepared) {
  reinterpret_cast<AffineOfSums*>(prepared)->prepare(*a.affine, a.kernel * a.kernel * 256 * 128, kOrder);
}

// Calls run(affine) where it fits, and tells whether it did; prepares it here where a and b are not constant.
template <Order kOrder, class Run>
bool with_prepared(const DepthwiseConvArgs& a, Run run) {
  constexpr uint64_t columns = AffineOfSums::kMostChannels / kLanes;
  alignas(64) uint8_t room[sizeof(AffineOfSums) + columns * sizeof(AffineOfSums::Column)];
  if (a.affine->residual) return false;
  if (!a.prepared) prepare_affine<kOrder>(a, room);
  const AffineOfSums& affine = *reinterpret_cast<const AffineOfSums*>(a.prepared ? a.prepared : room);
  if (affine.fits) run(affine);
  return affine.fits;
}

}  // namespace
}  // namespace bitreplay
