#include <immintrin.h>

#include "kernels/latent_code/latent_code_eights.h"

namespace bitreplay {
namespace {

struct Lanes {
  using Vector = __m256i;

  static Vector load(const int8_t* from) {
    return _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
  }
  static Vector load(const int16_t* from) {
    return _mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  static Vector load(const int32_t* from) { return _mm256_loadu_si256(reinterpret_cast<const Vector*>(from)); }

  static void store(int8_t* to, Vector x) {
    const Vector bytes = _mm256_shuffle_epi8(x, _mm256_set1_epi32(0x0C080400));
    const __m128i both = _mm_unpacklo_epi32(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), both);
  }
  static void store(int16_t* to, Vector x) {
    const Vector low = _mm256_and_si256(x, _mm256_set1_epi32(0xFFFF));
    const Vector halves = _mm256_permute4x64_epi64(_mm256_packus_epi32(low, low), 0x08);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(halves));
  }
  static void store(int32_t* to, Vector x) { _mm256_storeu_si256(reinterpret_cast<Vector*>(to), x); }

  static Vector all(int32_t x) { return _mm256_set1_epi32(x); }
  static Vector add(Vector a, Vector b) { return _mm256_add_epi32(a, b); }
  static Vector sub(Vector a, Vector b) { return _mm256_sub_epi32(a, b); }
  static Vector down(Vector x, int places) { return _mm256_srl_epi32(x, _mm_cvtsi32_si128(places)); }
  static Vector up(Vector x, int places) { return _mm256_sll_epi32(x, _mm_cvtsi32_si128(places)); }
  static Vector at_least(Vector a, Vector b) {
    return _mm256_xor_si256(_mm256_cmpgt_epi32(b, a), _mm256_set1_epi32(-1));
  }
  static Vector odd(Vector x) { return _mm256_slli_epi32(x, 31); }  // the highest bit is all that bits_of reads
  static uint8_t bits_of(Vector mask) { return uint8_t(_mm256_movemask_ps(_mm256_castsi256_ps(mask))); }
  static Vector mask_of(uint8_t bits) {
    const Vector places = _mm256_set_epi32(128, 64, 32, 16, 8, 4, 2, 1);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(bits), places), places);
  }
  static Vector select(Vector mask, Vector a, Vector b) { return _mm256_blendv_epi8(b, a, mask); }
};

}  // namespace

void encode_latents_avx2(const EncodeLatentsArgs& a) { encode_with<Lanes>(a); }
void decode_latents_avx2(const DecodeLatentsArgs& a) { decode_with<Lanes>(a); }

}  // namespace bitreplay
