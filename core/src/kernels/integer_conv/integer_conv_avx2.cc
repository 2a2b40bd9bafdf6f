#include <immintrin.h>

#include "kernels/integer_conv/integer_conv_input_grad_pairs.h"
#include "kernels/integer_conv/integer_conv_pairs_affine.h"

namespace bitreplay {
namespace {

struct PairLanes {
  using Vector = __m256i;
  static constexpr int64_t kLanes = 8;
  static Vector zero() { return _mm256_setzero_si256(); }
  static Vector load(const int32_t* from) { return _mm256_load_si256(reinterpret_cast<const Vector*>(from)); }
  static void store(int32_t* to, Vector x) { _mm256_storeu_si256(reinterpret_cast<Vector*>(to), x); }
  static Vector pair(const int16_t* from) {
    int32_t both;
    memcpy(&both, from, sizeof both);
    return _mm256_set1_epi32(both);
  }
  static Vector dot(Vector sums, Vector x, Vector w) { return _mm256_add_epi32(sums, _mm256_madd_epi16(x, w)); }
};

constexpr IntegerConv kPairs = integer_conv_with<PairLanes>();

}  // namespace

const IntegerConv kIntegerConvAvx2 = {kPairs.packed_weights_bytes, kPairs.pack_weights, kPairs.run,
                                      run_pairs_affine<PairLanes>};
const IntegerConvInputGrad kIntegerConvInputGradAvx2 = integer_conv_input_grad_with<PairLanes>();

}  // namespace bitreplay
