// The Scan of latent_rare.h, 16 weights at a time.
#pragma once
#include <immintrin.h>

#include "arithmetic/counter.h"
#include "kernels/latent_weights/latent_rare.h"

namespace bitreplay {

struct ScanAvx512 {
  template <class Visit>
  static void find(uint32_t place, uint64_t key, uint32_t reach, int64_t count, Visit visit) {
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i high = _mm512_set1_epi32(int32_t(key >> 32)), next = _mm512_set1_epi32(int32_t(16 * kElementFactor));
    const __m512i add = _mm512_set1_epi32(int32_t(reach)), end = _mm512_set1_epi32(int32_t(2 * reach));
    __m512i at = _mm512_add_epi32(_mm512_mullo_epi32(lanes, _mm512_set1_epi32(int32_t(kElementFactor))),
                                  _mm512_set1_epi32(int32_t(place)));
    for (int64_t i = 0; i < count; i += 64) {
      uint64_t mask = 0;
      for (int k = 0; k < 64; k += 16, at = _mm512_add_epi32(at, next)) {
        __m512i x = _mm512_xor_si512(at, _mm512_srli_epi32(at, 16));
        x = _mm512_mullo_epi32(x, _mm512_set1_epi32(int32_t(0x85EBCA6Bu)));
        x = _mm512_ternarylogic_epi32(x, _mm512_srli_epi32(x, 13), high, 0x96);  // exclusive or of three
        x = _mm512_mullo_epi32(x, _mm512_set1_epi32(int32_t(0xC2B2AE35u)));
        x = _mm512_xor_si512(x, _mm512_srli_epi32(x, 16));
        mask |= uint64_t(_mm512_cmplt_epu32_mask(_mm512_add_epi32(x, add), end)) << k;
      }
      if (count - i < 64) mask &= (uint64_t(1) << (count - i)) - 1;
      if (mask) visit(i, mask);
    }
  }

  static constexpr int64_t kSumStart = 800, kSumChunk = 110;

  static constexpr int64_t kMaxMasks = 0;
  static void add_signed(const SignedRow* rows, int64_t count, int64_t word, uint16_t start, uint16_t* to) {
    __m512i low = _mm512_set1_epi16(int16_t(start)), high = low;
    for (const SignedRow* row = rows; row < rows + count; ++row) {
      const __m512i g = _mm512_set1_epi16(row->g);
      const uint64_t bits = row->x[word];
      low = _mm512_mask_add_epi16(low, __mmask32(bits), low, g);
      high = _mm512_mask_add_epi16(high, __mmask32(bits >> 32), high, g);
    }
    _mm512_store_si512(to, low);
    _mm512_store_si512(to + 32, high);
  }

  class Total {
   public:
    void add(const int16_t* g, uint32_t bits) {
      sums_ = _mm512_add_epi32(sums_, _mm512_madd_epi16(_mm512_maskz_loadu_epi16(bits, g), _mm512_set1_epi16(1)));
    }
    int32_t sum() const { return _mm512_reduce_add_epi32(sums_); }

   private:
    __m512i sums_ = _mm512_setzero_si512();
  };
};

}  // namespace bitreplay
