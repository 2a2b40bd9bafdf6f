// One table of kernels for devices without vectors, chosen when the library is built: the scalar ones that the forward pass
// takes, with binary weights read where they lie. In the place of machine/dispatch.cc.
#include "machine/dispatch.h"

#include <cstring>

#include "machine/program.h"

namespace bitreplay {
namespace {

const Kernels kOnly = {.name = "scalar",
                       .supported = [] { return true; },
                       .pack_signs = pack_signs_scalar,
                       .sign_input_grad = nullptr,
                       .binary_conv = {binary_conv_in_place, nullptr, nullptr},
                       .binary_conv_input_grad = {},
                       .affine = affine_scalar,
                       .affine_input_grad = nullptr,
                       .affine_param_grad = nullptr,
                       .integer_conv = kIntegerConvScalar,
                       .integer_conv_input_grad = {},
                       .encode_level = nullptr,
                       .decode_level = nullptr,
                       .latent_update = {},
                       .latent_signs = nullptr,
                       .sums = kSumsScalar,
                       .loops = nullptr};

}  // namespace

const Kernels* chosen_kernels() { return &kOnly; }

}  // namespace bitreplay

const char* br_paths(void) { return "scalar"; }
int br_path_supported(const char* name) { return name && !strcmp(name, "scalar"); }
const char* br_path(void) { return "scalar"; }
int br_set_path(const char* name) { return br_path_supported(name) ? BR_OK : BR_UNKNOWN_PATH; }
const char* br_program_path(const br_program* program) { return program ? "scalar" : nullptr; }
