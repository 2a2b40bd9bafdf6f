// affine tile by tile, compiled for the baseline of the architecture.
#include "kernels/affine/affine_tiles.h"

namespace bitreplay {

void affine_scalar(const AffineArgs& a) { affine_tiles(a); }

}  // namespace bitreplay
