#include "machine/dispatch.h"

#include <cstdlib>
#include <cstring>

#include "bitreplay.h"
#include "machine/cpu_arm.h"
#include "machine/cpu_x86.h"
#include "machine/program.h"

namespace bitreplay {
namespace {

bool always() { return true; }

#if defined(__x86_64__)
const CpuX86 kCpu = cpu_x86();  // once, when the library is loaded: a virtual machine's cpuid is slow
bool has_avx2() { return kCpu.avx2; }
#if defined(BITREPLAY_AVXVNNI)
bool has_avxvnni() { return kCpu.avxvnni; }
#endif
bool has_avx512() { return kCpu.avx512; }
#elif defined(__aarch64__)
const bool kHasDotprod = cpu_has_dotprod();
bool has_dotprod() { return kHasDotprod; }
#endif

const Kernels kPaths[] = {
    {.name = "scalar",
     .supported = always,
     .pack_signs = pack_signs_scalar,
     .sign_input_grad = sign_input_grad_scalar,
     .binary_conv = {binary_conv_scalar, interleaved_bytes, interleave_outputs},
     .binary_conv_input_grad = kBinaryConvInputGradScalar,
     .affine = affine_scalar,
     .affine_input_grad = affine_input_grad_scalar,
     .affine_param_grad = affine_param_grad_scalar,
     .integer_conv = kIntegerConvScalar,
     .integer_conv_input_grad = kIntegerConvInputGradScalar,
     .depthwise_conv = kDepthwiseConvScalar,
     .encode_latents = encode_latents_scalar,
     .decode_latents = decode_latents_scalar,
     .latent_update = kLatentUpdateScalar,
     .latent_signs = latent_signs_scalar,
     .sums = kSumsScalar,
     .loops = nullptr},
#if defined(__x86_64__)
    {.name = "avx2",
     .supported = has_avx2,
     .pack_signs = pack_signs_avx2,
     .sign_input_grad = sign_input_grad_avx2,
     .binary_conv = kBinaryConvAvx2,
     .binary_conv_input_grad = kBinaryConvInputGradAvx2,
     .affine = affine_avx2,
     .affine_clipped = affine_clipped_avx2,
     .affine_prepare = kAffinePrepareAvx2,
     .affine_input_grad = affine_input_grad_avx2,
     .affine_param_grad = affine_param_grad_avx2,
     .integer_conv = kIntegerConvAvx2,
     .integer_conv_input_grad = kIntegerConvInputGradAvx2,
     .depthwise_conv = kDepthwiseConvAvx2,
     .encode_latents = encode_latents_avx2,
     .decode_latents = decode_latents_avx2,
     .latent_update = kLatentUpdateAvx2,
     .latent_signs = latent_signs_avx2,
     .sums = kSumsAvx2,
     .loops = &kLoopsAvx2},
#if defined(BITREPLAY_AVXVNNI)  // which compilers have known later than the others
    {.name = "avxvnni",
     .supported = has_avxvnni,
     .pack_signs = pack_signs_avx2,
     .sign_input_grad = sign_input_grad_avx2,
     .binary_conv = kBinaryConvAvx2,
     .binary_conv_input_grad = kBinaryConvInputGradAvx2,
     .affine = affine_avx2,
     .affine_clipped = affine_clipped_avx2,
     .affine_prepare = kAffinePrepareAvx2,
     .affine_input_grad = affine_input_grad_avx2,
     .affine_param_grad = affine_param_grad_avx2,
     .integer_conv = kIntegerConvAvxvnni,
     .integer_conv_input_grad = kIntegerConvInputGradAvx2,
     .depthwise_conv = kDepthwiseConvAvx2,
     .encode_latents = encode_latents_avx2,
     .decode_latents = decode_latents_avx2,
     .latent_update = kLatentUpdateAvx2,
     .latent_signs = latent_signs_avx2,
     .sums = kSumsAvx2,
     .loops = &kLoopsAvx2},
#endif
    {.name = "avx512",
     .supported = has_avx512,
     .pack_signs = pack_signs_avx512,
     .sign_input_grad = sign_input_grad_avx512,
     .binary_conv = kBinaryConvAvx512,
     .binary_conv_input_grad = kBinaryConvInputGradAvx512,
     .affine = affine_avx512,
     .affine_clipped = affine_clipped_avx512,
     .affine_prepare = kAffinePrepareAvx512,
     .affine_input_grad = affine_input_grad_avx512,
     .affine_param_grad = affine_param_grad_avx512,
     .integer_conv = kIntegerConvAvx512,
     .integer_conv_input_grad = kIntegerConvInputGradAvx512,
     .depthwise_conv = kDepthwiseConvAvx512,
     .encode_latents = encode_latents_avx512,
     .decode_latents = decode_latents_avx512,
     .latent_update = kLatentUpdateAvx512,
     .latent_signs = latent_signs_avx512,
     .sums = kSumsAvx512,
     .loops = &kLoopsAvx512},
#elif defined(__aarch64__)
    {.name = "neon",
     .supported = always,
     .pack_signs = pack_signs_neon,
     .sign_input_grad = sign_input_grad_neon,
     .binary_conv = kBinaryConvNeon,
     .binary_conv_input_grad = kBinaryConvInputGradNeon,
     .affine = affine_neon,
     .affine_clipped = affine_clipped_neon,
     .affine_input_grad = affine_input_grad_neon,
     .affine_param_grad = affine_param_grad_neon,
     .integer_conv = kIntegerConvNeon,
     .integer_conv_input_grad = kIntegerConvInputGradNeon,
     .depthwise_conv = kDepthwiseConvNeon,
     .encode_latents = encode_latents_neon,
     .decode_latents = decode_latents_neon,
     .latent_update = kLatentUpdateNeon,
     .latent_signs = latent_signs_neon,
     .sums = kSumsNeon,
     .loops = nullptr},
    {.name = "dotprod",
     .supported = has_dotprod,
     .pack_signs = pack_signs_neon,
     .sign_input_grad = sign_input_grad_neon,
     .binary_conv = kBinaryConvNeon,
     .binary_conv_input_grad = kBinaryConvInputGradNeon,
     .affine = affine_neon,
     .affine_clipped = affine_clipped_neon,
     .affine_input_grad = affine_input_grad_neon,
     .affine_param_grad = affine_param_grad_neon,
     .integer_conv = kIntegerConvDotprod,
     .integer_conv_input_grad = kIntegerConvInputGradNeon,
     .depthwise_conv = kDepthwiseConvDotprod,
     .encode_latents = encode_latents_neon,
     .decode_latents = decode_latents_neon,
     .latent_update = kLatentUpdateNeon,
     .latent_signs = latent_signs_neon,
     .sums = {pair_products_dotprod, kSumsNeon.row_products, kSumsNeon.take_away, kSumsNeon.score},
     .loops = nullptr},
#elif defined(BITREPLAY_WASM_SIMD)
    {.name = "wasm",
     .supported = always,
     .pack_signs = pack_signs_wasm,
     .sign_input_grad = sign_input_grad_wasm,
     .binary_conv = kBinaryConvWasm,
     .binary_conv_input_grad = kBinaryConvInputGradWasm,
     .affine = affine_wasm,
     .affine_clipped = affine_clipped_wasm,
     .affine_prepare = kAffinePrepareWasm,
     .affine_input_grad = affine_input_grad_wasm,
     .affine_param_grad = affine_param_grad_wasm,
     .integer_conv = kIntegerConvWasm,
     .integer_conv_input_grad = kIntegerConvInputGradWasm,
     .depthwise_conv = kDepthwiseConvScalar,
     .encode_latents = encode_latents_wasm,
     .decode_latents = decode_latents_wasm,
     .latent_update = kLatentUpdateWasm,
     .latent_signs = latent_signs_wasm,
     .sums = kSumsWasm,
     .loops = &kLoopsWasm},
#endif
};
#if defined(BITREPLAY_AVXVNNI)
const char* const kPathNames = "scalar avx2 avxvnni avx512";
#elif defined(__x86_64__)
const char* const kPathNames = "scalar avx2 avx512";
#elif defined(__aarch64__)
const char* const kPathNames = "scalar neon dotprod";
#elif defined(BITREPLAY_WASM_SIMD)
const char* const kPathNames = "scalar wasm";
#else
const char* const kPathNames = "scalar";
#endif

const Kernels* find(const char* name) {
  for (const Kernels& kernels : kPaths)
    if (!strcmp(kernels.name, name)) return &kernels;
  return nullptr;
}

const Kernels* fastest() {
  const Kernels* best = nullptr;
  for (const Kernels& kernels : kPaths)
    if (kernels.supported()) best = &kernels;
  return best;
}

const Kernels* set_by_call = nullptr;

}  // namespace

const Kernels* chosen_kernels() {
  if (const Kernels* set = __atomic_load_n(&set_by_call, __ATOMIC_ACQUIRE)) return set;
  const char* name = getenv("BITREPLAY_ISA");
  if (!name || !*name) return fastest();
  const Kernels* kernels = find(name);
  return kernels && kernels->supported() ? kernels : nullptr;
}

}  // namespace bitreplay

const char* br_isas(void) { return bitreplay::kPathNames; }

int br_isa_supported(const char* name) {
  const bitreplay::Kernels* kernels = name ? bitreplay::find(name) : nullptr;
  return kernels && kernels->supported();
}

const char* br_isa(void) {
  const bitreplay::Kernels* kernels = bitreplay::chosen_kernels();
  return kernels ? kernels->name : nullptr;
}

int br_set_isa(const char* name) {
  if (!br_isa_supported(name)) return BR_UNKNOWN_ISA;
  __atomic_store_n(&bitreplay::set_by_call, bitreplay::find(name), __ATOMIC_RELEASE);
  return BR_OK;
}

const char* br_program_isa(const br_program* program) { return program ? program->kernels->name : nullptr; }
