#include "kernels/affine_tiles.h"

namespace bitreplay {

void affine_avx2(const AffineArgs& a) { affine_tiles(a); }

}  // namespace bitreplay
