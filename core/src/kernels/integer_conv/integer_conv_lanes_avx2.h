// Vectors of 256 bits for integer_conv_tiles.h: pairs by vpmaddwd.
#pragma once
#include <immintrin.h>

#include "kernels/integer_conv/integer_conv_tiles.h"

namespace bitreplay {
namespace {

struct PairLanes {
  using Vector = __m256i;
  static constexpr int64_t kLanes = 8, kPixels = 4;
  static Vector zero() { return _mm256_setzero_si256(); }
  static Vector load(const int32_t* from) { return _mm256_load_si256(reinterpret_cast<const Vector*>(from)); }
  static void store(int32_t* to, Vector x) { _mm256_storeu_si256(reinterpret_cast<Vector*>(to), x); }
  static Vector pair(const int16_t* from) {
    int32_t both;
    memcpy(&both, from, sizeof both);
    return _mm256_set1_epi32(both);
  }
  static Vector dot(Vector sums, Vector x, Vector w) { return _mm256_add_epi32(sums, _mm256_madd_epi16(x, w)); }

  // From Order::pairs and, one vector, Order::single.
  static void store_in_order(int32_t* to, Vector x) { store(to, _mm256_shuffle_epi32(x, 0xD8)); }
  static void store_in_order(int32_t* to, Vector x, Vector y) {
    const Vector first = _mm256_shuffle_epi32(x, 0xD8), second = _mm256_shuffle_epi32(y, 0xD8);
    store(to, _mm256_permute2x128_si256(first, second, 0x20));
    store(to + kLanes, _mm256_permute2x128_si256(first, second, 0x31));
  }
};

}  // namespace
}  // namespace bitreplay
