// One table of kernels for devices without vectors, chosen when the library is built: the scalar ones that the forward
// pass takes, with binary weights read where they lie, and those of training where it is built for it. In the place of
// machine/dispatch.cc.
#include "machine/dispatch.h"

#include <cstring>

#include "machine/program.h"

#if defined(BITREPLAY_TRAINING)
#define OF_TRAINING(kernel) kernel
#else
#define OF_TRAINING(kernel) \
  {}
#endif

namespace bitreplay {
namespace {

const Kernels kOnly = {.name = "scalar",
                       .supported = [] { return true; },
                       .pack_signs = pack_signs_scalar,
                       .sign_input_grad = OF_TRAINING(sign_input_grad_scalar),
                       .binary_conv = {binary_conv_in_place, nullptr, nullptr},
                       .binary_conv_input_grad = OF_TRAINING(kBinaryConvInputGradScalar),
                       .affine = affine_scalar,
                       .affine_input_grad = OF_TRAINING(affine_input_grad_scalar),
                       .affine_param_grad = OF_TRAINING(affine_param_grad_scalar),
                       .integer_conv = kIntegerConvScalar,
                       .integer_conv_input_grad = OF_TRAINING(kIntegerConvInputGradScalar),
                       .depthwise_conv = kDepthwiseConvScalar,
                       .encode_latents = OF_TRAINING(encode_latents_scalar),
                       .decode_latents = OF_TRAINING(decode_latents_scalar),
                       .latent_update = OF_TRAINING(kLatentUpdateScalar),
                       .latent_signs = OF_TRAINING(latent_signs_scalar),
                       .sums = kSumsScalar,
                       .loops = nullptr};

}  // namespace

const Kernels* chosen_kernels() { return &kOnly; }

}  // namespace bitreplay

const char* br_isas(void) { return "scalar"; }
int br_isa_supported(const char* name) { return name && !strcmp(name, "scalar"); }
const char* br_isa(void) { return "scalar"; }
int br_set_isa(const char* name) { return br_isa_supported(name) ? BR_OK : BR_UNKNOWN_ISA; }
const char* br_program_isa(const br_program* program) { return program ? "scalar" : nullptr; }
