#include <immintrin.h>

#include "kernels/integer_conv/integer_conv_input_grad_pairs.h"

namespace bitreplay {
namespace {

struct Lanes {
  using Vector = __m512i;
  static constexpr int64_t kLanes = 16;
  static Vector zero() { return _mm512_setzero_si512(); }
  static Vector load(const int32_t* from) { return _mm512_load_si512(from); }
  static void store(int32_t* to, Vector x) { _mm512_storeu_si512(to, x); }
  static Vector pair(const int16_t* from) {
    int32_t both;
    memcpy(&both, from, sizeof both);
    return _mm512_set1_epi32(both);
  }
  static Vector dot(Vector sums, Vector x, Vector w) { return _mm512_dpwssd_epi32(sums, x, w); }
};

}  // namespace

const IntegerConv kIntegerConvAvx512 = integer_conv_with<Lanes>();
const IntegerConvInputGrad kIntegerConvInputGradAvx512 = integer_conv_input_grad_with<Lanes>();

}  // namespace bitreplay
