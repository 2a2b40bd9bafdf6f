// Integer convolution with AVX-VNNI: bytes by vpdpbusd in vectors of 256 bits, all else as on AVX2. Ten sums or more
// wait for no product before.
#include "kernels/integer_conv/integer_conv_lanes_avx2.h"

namespace bitreplay {
namespace {

struct QuadLanes : PairLanes {
  static constexpr int64_t kPixels = 5;
  static Vector quad(const uint8_t* from) {
    int32_t all;
    memcpy(&all, from, sizeof all);
    return _mm256_xor_si256(_mm256_set1_epi32(all), _mm256_set1_epi8(-128));
  }
  static Vector dot(Vector sums, Vector x, Vector w) { return _mm256_dpbusd_avx_epi32(sums, x, w); }
};

}  // namespace

const IntegerConv kIntegerConvAvxvnni = TiledConv<PairLanes, Tiles<QuadKind<QuadLanes>>>::table();

}  // namespace bitreplay
