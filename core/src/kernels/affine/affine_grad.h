// Gradients of affine.
//
// affine_input_grad: gx = round(g a) to `bits` bits per sample, ex its exponents (e - shift before rounding).
//   In   g: samples * pixels * channels of int8, int16 or int32; e: int32 per sample; a: int32 per channel.
//   Out  gx: the same size in the width of `bits`; ex: int32 per sample.
// affine_param_grad: p = sum g (x - x_zero), q = sum g, over pixels per sample, then over samples with their exponents.
//   In   g and x: samples * pixels * channels of int8, int16 or int32.
//   Out  p, q: int64 per channel, of the channels first .. last; *pe, where first is 0: their common exponent.
//   Bound |sum over the pixels of one sample| < 2^bound.
// Reads and writes nothing outside; what is written overlaps nothing.
#pragma once
#include <cstdint>

namespace bitreplay {

struct AffineInputGradArgs {
  int64_t samples, pixels, channels;
  const void* g;
  int g_type;
  const int32_t* e;
  const int32_t* a;
  void* gx;
  int gx_type;
  int32_t* ex;
  int64_t shift, bits;
};

struct AffineParamGradArgs {
  int64_t samples, pixels, channels;
  const void* g;
  int g_type;
  const int32_t* e;
  const void* x;
  int x_type;
  int64_t *p, *q;
  int32_t* pe;
  int64_t x_zero, bound;
  int64_t first, last;
};

using AffineInputGrad = void(const AffineInputGradArgs&);
using AffineParamGrad = void(const AffineParamGradArgs&);
AffineInputGrad affine_input_grad_scalar, affine_input_grad_avx2, affine_input_grad_avx512, affine_input_grad_neon,
    affine_input_grad_wasm;
AffineParamGrad affine_param_grad_scalar, affine_param_grad_avx2, affine_param_grad_avx512, affine_param_grad_neon,
    affine_param_grad_wasm;

}  // namespace bitreplay
