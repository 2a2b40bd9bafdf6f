// x >= zero is not (zero > x): a comparison and the byte mask of vpmovmskb. Wider elements are packed to bytes first.
#include <immintrin.h>

#include "bitreplay.h"
#include "kernels/sign/pack_signs.h"

namespace bitreplay {
namespace {

inline uint32_t below(const int8_t* x, int64_t zero) {
  const __m256i values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x));
  return uint32_t(_mm256_movemask_epi8(_mm256_cmpgt_epi8(_mm256_set1_epi8(char(zero)), values)));
}

inline uint32_t below(const int16_t* x, int64_t zero) {
  const __m256i *from = reinterpret_cast<const __m256i*>(x), limit = _mm256_set1_epi16(short(zero));
  const __m256i a = _mm256_cmpgt_epi16(limit, _mm256_loadu_si256(from));
  const __m256i b = _mm256_cmpgt_epi16(limit, _mm256_loadu_si256(from + 1));
  return uint32_t(_mm256_movemask_epi8(_mm256_permute4x64_epi64(_mm256_packs_epi16(a, b), 0xD8)));
}

template <class T>
void pack(const PackSignsArgs& a) {
  const T* x = static_cast<const T*>(a.x);
  uint64_t* bits = a.bits;
  for (int64_t row = 0; row < a.rows; ++row, x += a.channels) {
    for (int64_t at = 0; at < a.channels; at += 64) {
      const int64_t left = a.channels - at;
      uint64_t word = 0;
      int64_t i = 0;
      for (; i < 64 && i + 32 <= left; i += 32) word |= uint64_t(~below(x + at + i, a.zero)) << i;
      for (; i < 64 && i < left; ++i) word |= uint64_t(x[at + i] >= a.zero) << i;
      *bits++ = word;
    }
  }
}

}  // namespace

void pack_signs_avx2(const PackSignsArgs& a) {
  if (a.x_type == BR_INT8 && a.zero == int8_t(a.zero)) return pack<int8_t>(a);
  if (a.x_type == BR_INT16 && a.zero == int16_t(a.zero)) return pack<int16_t>(a);
  pack_signs_scalar(a);
}

}  // namespace bitreplay
