#include <wasm_simd128.h>

#include "kernels/affine/affine_of_rows_wasm.h"
#include "kernels/integer_conv/integer_conv_input_grad_pairs.h"

namespace bitreplay {
namespace {

struct Lanes {
  using Vector = v128_t;
  static constexpr int64_t kLanes = 4;
  static Vector zero() { return wasm_i32x4_const_splat(0); }
  static Vector load(const int32_t* from) { return wasm_v128_load(from); }
  static void store(int32_t* to, Vector x) { wasm_v128_store(to, x); }
  static Vector pair(const int16_t* from) { return wasm_v128_load32_splat(from); }
  static Vector dot(Vector sums, Vector x, Vector w) { return wasm_i32x4_add(sums, wasm_i32x4_dot_i16x8(x, w)); }
};

}  // namespace

const IntegerConv kIntegerConvWasm = integer_conv_with<Lanes, affine_of_rows_wasm>();
const IntegerConvInputGrad kIntegerConvInputGradWasm = integer_conv_input_grad_with<Lanes>();

}  // namespace bitreplay
