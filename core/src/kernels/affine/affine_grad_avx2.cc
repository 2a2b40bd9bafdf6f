#include "kernels/affine/affine_grad_tiles.h"

namespace bitreplay {

void affine_input_grad_avx2(const AffineInputGradArgs& a) { affine_input_grad_tiles(a); }
void affine_param_grad_avx2(const AffineParamGradArgs& a) { affine_param_grad_tiles(a); }

}  // namespace bitreplay
