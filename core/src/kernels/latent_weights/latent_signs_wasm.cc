// latent_signs (kernels/latent_weights/latent_update.h): whole elements are packed like activations.
#include "bitreplay.h"
#include "kernels/latent_weights/latent_update.h"
#include "kernels/sign/pack_signs.h"

namespace bitreplay {

void latent_signs_wasm(const LatentSignsArgs& a) {
  if (a.bits == 4) return latent_signs_scalar(a);
  PackSignsArgs args = {};
  args.rows = a.rows;
  args.channels = a.channels;
  args.x = a.latent;
  args.x_type = a.bits == 8 ? BR_INT8 : a.bits == 16 ? BR_INT16 : BR_INT32;
  args.bits = a.w;
  pack_signs_wasm(args);
}

}  // namespace bitreplay
