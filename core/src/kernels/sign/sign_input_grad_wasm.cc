#include "kernels/sign/sign_input_grad_lanes.h"
#include "kernels/sign/sign_input_grad_tiles.h"

namespace bitreplay {

void sign_input_grad_wasm(const SignInputGradArgs& a) {
  if (!sign_grad_in_lanes(a)) sign_input_grad_tiles(a);
}

}  // namespace bitreplay
