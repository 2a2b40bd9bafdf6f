// affine with SIMD128: in 32-bit lanes where every number fits, else tile by tile as the compiler vectorises it.
#include "kernels/affine/affine_lanes.h"
#include "kernels/affine/affine_pairs.h"
#include "kernels/affine/affine_tiles.h"

namespace bitreplay {

void affine_wasm(const AffineArgs& a) {
  if (affine_pairs(a) || affine_lanes(a)) return;
  affine_tiles(a);
}

bool affine_clipped_wasm(const AffineArgs& a, ClippedTo clipped) { return affine_pairs(a, clipped); }

extern const AffinePrepare kAffinePrepareWasm = {PairsOfSums::bytes_of, PairsOfSums::make};

}  // namespace bitreplay
