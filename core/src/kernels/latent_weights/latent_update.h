// latent_update: the weight gradient of a binary convolution and one step of its latent weights, an output at a time.
//
//    sum[o, t, i] = sum over samples n and pixels p of g'[n, p, o] x[n, p + t, i],  x = +-1, outside the map `padding`
//    latent[o, t, i] <- clip( latent - stochastic( sum * step ) )
//
// In     g: samples * out_h * out_w rows of `outputs` int8, int16 or int32; e: one exponent a sample, `top` the
//           largest; g' = round(g 2^up / 2^(top - e)), 0 where a sample has no gradient.
//        x: samples * height * width rows of `words` words; bits behind `channels` may be anything.
//        step: constant * rate / samples and the generator's key; element numbers count latent[o, t, i].
// In/out latent: (outputs, kernel, kernel, channels) of `bits` bits; 4-bit ones two in a byte, the last half byte 0.
// Scratch 64-byte aligned, what `scratch_bytes` says for at least as many samples; its content does not matter.
// Bound  gradients of 16 bits of fewer than 2^16 pixels are summed in 32 bits, all others modulo 2^64.
// Reads and writes nothing outside; nothing overlaps.
//
// latent_signs: bit i of w[row] is latent[row, i] >= 0; bits behind `channels` are 0.
#pragma once
#include <cstdint>

#include "arithmetic/sgd.h"

namespace bitreplay {

struct LatentUpdateArgs {
  int64_t samples, height, width, words, channels;
  int64_t outputs, kernel, out_h, out_w;
  int64_t first, last;  // the outputs whose latent weights move
  int64_t stride, pad, padding;
  const void* g;
  int g_type;
  const int32_t* e;
  int64_t top, up;
  const uint64_t* x;
  void* latent;
  int64_t bits;
  Step step;
  uint8_t* scratch;
};

// scratch_bytes reads sizes, types and `up` alone.
struct LatentUpdate {
  uint64_t (*scratch_bytes)(const LatentUpdateArgs&);
  void (*run)(const LatentUpdateArgs&);
};
extern const LatentUpdate kLatentUpdateScalar, kLatentUpdateAvx2, kLatentUpdateAvx512, kLatentUpdateNeon,
    kLatentUpdateWasm;

struct LatentSignsArgs {
  int64_t rows, words, channels, bits;
  const void* latent;
  uint64_t* w;
};
using LatentSigns = void(const LatentSignsArgs&);
LatentSigns latent_signs_scalar, latent_signs_avx2, latent_signs_avx512, latent_signs_neon, latent_signs_wasm;

}  // namespace bitreplay
