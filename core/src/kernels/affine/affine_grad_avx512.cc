#include "kernels/affine/affine_grad_lanes.h"

namespace bitreplay {

void affine_input_grad_avx512(const AffineInputGradArgs& a) { affine_input_grad_lanes(a); }

void affine_param_grad_avx512(const AffineParamGradArgs& a) {
  if (!affine_param_grad_lanes(a)) affine_param_grad_scalar(a);
}

}  // namespace bitreplay
