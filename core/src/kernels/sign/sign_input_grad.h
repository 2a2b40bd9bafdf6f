// sign_input_grad: gx = round(g d(x) [+ other other_factor]) to `bits` bits per sample,
// d = max(0, peak - round(|x - zero| slope)), slope = slope_mantissa / 2^slope_shift.
//
// In     g: samples * size of int8, int16, int32 or int64; e: its exponents; x: int8, int16 or int32;
//        other (may be null): a second gradient of the same size with its own exponents, brought to a common one.
// Out    gx in the width of `bits`, ex: int32 per sample.
// Bound  |g d| < 2^bound, |other other_factor| < 2^other_bound, both at most 62; |x - zero| < 2^32.
// Reads and writes nothing outside; what is written overlaps nothing.
#pragma once
#include <cstdint>

namespace bitreplay {

struct SignInputGradArgs {
  int64_t samples, size;
  const void* g;
  int g_type;
  const int32_t* e;
  const void* x;
  int x_type;
  const void* other;
  int other_type;
  const int32_t* other_e;
  void* gx;
  int gx_type;
  int32_t* ex;
  int64_t zero, peak, peak_shift, slope_mantissa, slope_shift, bound, bits, other_factor, other_shift, other_bound;
};

using SignInputGrad = void(const SignInputGradArgs&);
SignInputGrad sign_input_grad_scalar, sign_input_grad_avx2, sign_input_grad_avx512, sign_input_grad_neon,
    sign_input_grad_wasm;

}  // namespace bitreplay
