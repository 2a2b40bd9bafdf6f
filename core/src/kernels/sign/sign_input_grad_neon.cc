#include "kernels/sign/sign_input_grad_lanes.h"

namespace bitreplay {

void sign_input_grad_neon(const SignInputGradArgs& a) {
  if (!sign_grad_in_lanes(a)) sign_input_grad_scalar(a);
}

}  // namespace bitreplay
