// Integer convolution with AVX-512: bytes by vpdpbusd, pairs of 16-bit numbers by vpdpwssd (integer_conv_tiles.h).
// Eight or nine pixels by 32 outputs: their sums wait for no product before.
#include <immintrin.h>

#include "kernels/integer_conv/integer_conv_input_grad_pairs.h"
#include "kernels/integer_conv/integer_conv_tiles.h"

namespace bitreplay {
namespace {

struct PairLanes {
  using Vector = __m512i;
  static constexpr int64_t kLanes = 16, kPixels = 8;
  static Vector zero() { return _mm512_setzero_si512(); }
  static Vector load(const int32_t* from) { return _mm512_load_si512(from); }
  static void store(int32_t* to, Vector x) { _mm512_storeu_si512(to, x); }
  static Vector pair(const int16_t* from) { return spread(from); }
  static Vector dot(Vector sums, Vector x, Vector w) { return _mm512_dpwssd_epi32(sums, x, w); }

  // From Order::pairs and, one vector, Order::single.
  static void store_in_order(int32_t* to, Vector x) { store(to, _mm512_shuffle_epi32(x, _MM_PERM_DBCA)); }
  static void store_in_order(int32_t* to, Vector x, Vector y) {
    const Vector first = _mm512_setr_epi32(0, 2, 1, 3, 16, 18, 17, 19, 4, 6, 5, 7, 20, 22, 21, 23);
    store(to, _mm512_permutex2var_epi32(x, first, y));
    store(to + kLanes, _mm512_permutex2var_epi32(x, _mm512_add_epi32(first, _mm512_set1_epi32(8)), y));
  }

 protected:
  static Vector spread(const void* from) {
    int32_t all;
    memcpy(&all, from, sizeof all);
    return _mm512_set1_epi32(all);
  }
};

struct QuadLanes : PairLanes {
  static Vector quad(const uint8_t* from) { return _mm512_xor_si512(spread(from), _mm512_set1_epi8(-128)); }
  static Vector dot(Vector sums, Vector x, Vector w) { return _mm512_dpbusd_epi32(sums, x, w); }
};

}  // namespace

const IntegerConv kIntegerConvAvx512 = TiledConv<PairLanes, Tiles<QuadKind<QuadLanes>>>::table();
const IntegerConvInputGrad kIntegerConvInputGradAvx512 = integer_conv_input_grad_with<PairLanes>();

}  // namespace bitreplay
