// Eight samples make two tables of 16 sums, looked up by vpshufb.
//
// T of four samples is at most 4 * 2^15 < 2^18: three digits of 6 bits, each with its own table of 16 bytes. Two items
// are four look-ups, which add up in a byte (4 * 63 < 256). Bytes are gathered in 16-bit lanes by two additions: `low`
// adds the lanes as they are, modulo 2^16, and `high` their upper bytes, so that the sum of the lower bytes is
// low - 256 high.
//
// Byte 4 j + r of 32 index bytes is channel 8 r + j, so that 16-bit sums widen to 8 neighbours without a shuffle.
// A table: [digits][2][16 bytes], samples 0 to 3 first.
#include <immintrin.h>

#include "kernels/lanes/subset_sums_avx2.h"
#include "kernels/latent_weights/latent_update_sixteens.h"

namespace bitreplay {
namespace {

// Loaded once and kept: compilers would load it a second time.
#define LOADED(v) __asm__("" : "+x"(v))

inline __m256i load(const void* from) { return _mm256_load_si256(static_cast<const __m256i*>(from)); }
inline void store(void* to, __m256i x) { _mm256_store_si256(static_cast<__m256i*>(to), x); }
inline __m256i table_at(const uint8_t* table) {
  return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(table)));
}

struct Sums {
  __m256i low[kDigits], high[kDigits];

  void clear() {
    for (int d = 0; d < kDigits; ++d) low[d] = high[d] = _mm256_setzero_si256();
  }

  // N <= 2 items.
  template <int N>
  void add(const uint8_t* table, const uint8_t* index, int64_t lanes) {
    const __m256i half = _mm256_set1_epi8(15);
    __m256i places[2 * N];
    for (int n = 0; n < N; ++n) {
      __m256i bytes = load(index + n * lanes);
      LOADED(bytes);
      places[2 * n] = _mm256_and_si256(bytes, half);
      places[2 * n + 1] = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half);
    }
    for (int d = 0; d < kDigits; ++d) {
      __m256i digits = _mm256_shuffle_epi8(table_at(table + 32 * d), places[0]);
      for (int k = 1; k < 2 * N; ++k) {
        const __m256i entries = table_at(table + (k / 2 * kDigits + d) * 32 + k % 2 * 16);
        digits = _mm256_add_epi8(digits, _mm256_shuffle_epi8(entries, places[k]));
      }
      low[d] = _mm256_add_epi16(low[d], digits);
      high[d] = _mm256_add_epi16(high[d], _mm256_srli_epi16(digits, 8));
    }
  }

  void flush(uint32_t minus, uint32_t* sums) const {
    const __m256i lower = _mm256_set1_epi32(0xFFFF), constant = _mm256_set1_epi32(int32_t(minus));
    __m256i parts[4];
    for (int d = kDigits - 1; d >= 0; --d) {
      const __m256i odd = high[d], even = _mm256_sub_epi16(low[d], _mm256_slli_epi16(odd, 8));
      const __m256i digit[4] = {_mm256_and_si256(even, lower), _mm256_and_si256(odd, lower),
                                _mm256_srli_epi32(even, 16), _mm256_srli_epi32(odd, 16)};
      for (int r = 0; r < 4; ++r)
        parts[r] = d == kDigits - 1 ? digit[r] : _mm256_add_epi32(_mm256_slli_epi32(parts[r], kDigitBits), digit[r]);
    }
    for (int r = 0; r < 4; ++r) {
      const __m256i change = _mm256_sub_epi32(_mm256_slli_epi32(parts[r], 1), constant);
      store(sums + 8 * r, _mm256_add_epi32(load(sums + 8 * r), change));
    }
  }
};

// random_bits (counter.h) of eight elements.
inline __m256i hash(__m256i elements, uint64_t key) {
  __m256i x = _mm256_add_epi32(_mm256_mullo_epi32(elements, _mm256_set1_epi32(int32_t(0x9E3779B1u))),
                               _mm256_set1_epi32(int32_t(key)));
  x = _mm256_xor_si256(x, _mm256_srli_epi32(x, 16));
  x = _mm256_mullo_epi32(x, _mm256_set1_epi32(int32_t(0x85EBCA6Bu)));
  x = _mm256_xor_si256(x, _mm256_srli_epi32(x, 13));
  x = _mm256_xor_si256(x, _mm256_set1_epi32(int32_t(key >> 32)));
  x = _mm256_mullo_epi32(x, _mm256_set1_epi32(int32_t(0xC2B2AE35u)));
  return _mm256_xor_si256(x, _mm256_srli_epi32(x, 16));
}

// Sums become what the step takes away, for a shift of 32 or more: the upper half of floor(sum * mantissa / 2^k) +
// random, k = shift - 32. The floor of a signed x is ((x + 2^63) >> k) - 2^(63 - k) with a logical shift, modulo 2^64.
void changes(const LatentUpdateArgs& a, const NarrowStep& step, uint32_t first, uint32_t* sums) {
  const __m256i mantissa = _mm256_set1_epi64x(step.mantissa), lower = _mm256_set1_epi64x(0xFFFFFFFF);
  const __m256i top = _mm256_set1_epi64x(INT64_MIN);
  const __m256i back = _mm256_set1_epi64x(int64_t(uint64_t(1) << (63 - step.random_up)));
  const __m128i places = _mm_cvtsi64_si128(step.random_up);
  const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const auto part = [&](__m256i product, __m256i random) {
    const __m256i floor = _mm256_sub_epi64(_mm256_srl_epi64(_mm256_xor_si256(product, top), places), back);
    return _mm256_add_epi64(floor, random);
  };
  const int64_t channels = a.channels;
  const uint64_t key = a.step.key;
  for (int64_t i = 0; i < channels; i += 8) {
    const __m256i random = hash(_mm256_add_epi32(lanes, _mm256_set1_epi32(int32_t(first + uint32_t(i)))), key);
    const __m256i sum = load(sums + i);
    const __m256i even = part(_mm256_mul_epi32(sum, mantissa), _mm256_and_si256(random, lower));
    const __m256i odd = part(_mm256_mul_epi32(_mm256_srli_epi64(sum, 32), mantissa), _mm256_srli_epi64(random, 32));
    store(sums + i, _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA));
  }
}

inline __m256i sixteen_bits() {
  return _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, INT16_MIN);
}

// The Scan of latent_rare.h.
struct ScanAvx2 {
  template <class Visit>
  static void find(uint32_t place, uint64_t key, uint32_t reach, int64_t count, Visit visit) {
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
                  factor = _mm256_set1_epi32(int32_t(kElementFactor));
    const __m256i high = _mm256_set1_epi32(int32_t(key >> 32)), next = _mm256_set1_epi32(int32_t(8 * kElementFactor));
    const __m256i add = _mm256_set1_epi32(int32_t(reach)), last = _mm256_set1_epi32(int32_t(2 * reach - 1));
    __m256i at = _mm256_add_epi32(_mm256_mullo_epi32(lanes, factor), _mm256_set1_epi32(int32_t(place)));
    for (int64_t i = 0; i < count; i += 32) {
      __m256i less[4];
      for (int k = 0; k < 4; ++k, at = _mm256_add_epi32(at, next)) {
        __m256i x = _mm256_xor_si256(at, _mm256_srli_epi32(at, 16));
        x = _mm256_mullo_epi32(x, _mm256_set1_epi32(int32_t(0x85EBCA6Bu)));
        x = _mm256_xor_si256(_mm256_xor_si256(x, high), _mm256_srli_epi32(x, 13));
        x = _mm256_mullo_epi32(x, _mm256_set1_epi32(int32_t(0xC2B2AE35u)));
        x = _mm256_add_epi32(_mm256_xor_si256(x, _mm256_srli_epi32(x, 16)), add);
        less[k] = _mm256_cmpeq_epi32(_mm256_min_epu32(x, last), x);
      }
      const __m256i any = _mm256_or_si256(_mm256_or_si256(less[0], less[1]), _mm256_or_si256(less[2], less[3]));
      if (_mm256_testz_si256(any, any)) continue;
      uint64_t mask = 0;
      for (int k = 0; k < 4; ++k)
        mask |= uint64_t(uint32_t(_mm256_movemask_ps(_mm256_castsi256_ps(less[k])))) << (8 * k);
      if (count - i < 32) mask &= (uint64_t(1) << (count - i)) - 1;
      if (mask) visit(i, mask);
    }
  }

  static constexpr int64_t kSumStart = 400, kSumChunk = 110;

  static constexpr int64_t kMaxMasks = 1 << 16;

  static __m256i mask_of(int16_t bits) {
    const __m256i places = sixteen_bits();
    return _mm256_cmpeq_epi16(_mm256_and_si256(_mm256_set1_epi16(bits), places), places);
  }

  static void spread(const uint64_t* x, int64_t words, int16_t* masks) {
    const int16_t* bits = reinterpret_cast<const int16_t*>(x);
    for (int64_t k = 0; k < 4 * words; ++k) store(masks + 16 * k, mask_of(bits[k]));
  }

  static void add_signed(const SignedRow* rows, int64_t count, int64_t word, uint16_t start, uint16_t* to) {
    __m256i sums[4];
    for (__m256i& sum : sums) sum = _mm256_set1_epi16(int16_t(start));
    for (const SignedRow* row = rows; row < rows + count; ++row) {
      const __m256i g = _mm256_set1_epi16(row->g);
      const int16_t* bits = reinterpret_cast<const int16_t*>(row->x + word);
      for (int k = 0; k < 4; ++k) {
        const __m256i set = row->masks ? load(row->masks + word * kWord + 16 * k) : mask_of(bits[k]);
        sums[k] = _mm256_add_epi16(sums[k], _mm256_and_si256(set, g));
      }
    }
    for (int k = 0; k < 4; ++k) store(to + 16 * k, sums[k]);
  }

  class Total {
   public:
    void add(const int16_t* g, uint32_t bits) {
      for (int half = 0; half < 2; ++half, g += 16, bits >>= 16) {
        const __m256i set = mask_of(int16_t(bits));
        // set is -1: the sum of -g is taken away.
        sums_ = _mm256_sub_epi32(sums_, _mm256_madd_epi16(load(g), set));
      }
    }
    int32_t sum() const {
      __m128i four = _mm_add_epi32(_mm256_castsi256_si128(sums_), _mm256_extracti128_si256(sums_, 1));
      four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4E));
      return _mm_cvtsi128_si32(_mm_add_epi32(four, _mm_shuffle_epi32(four, 0xB1)));
    }

   private:
    __m256i sums_ = _mm256_setzero_si256();
  };
};

struct Avx2Tables {
  using Scan = ScanAvx2;
  using Sums = bitreplay::Sums;
  static constexpr auto changes = bitreplay::changes;

  static void step_bytes(int8_t* latent, int64_t count, const uint32_t* changes) {
    int64_t i = 0;
    for (; i + 32 <= count; i += 32) {
      __m256i moved[2];
      for (int k = 0; k < 2; ++k) {
        const __m256i words = _mm256_packs_epi32(load(changes + i + 16 * k), load(changes + i + 16 * k + 8));
        const __m128i* from = reinterpret_cast<const __m128i*>(latent + i + 16 * k);
        moved[k] =
            _mm256_subs_epi16(_mm256_cvtepi8_epi16(_mm_loadu_si128(from)), _mm256_permute4x64_epi64(words, 0xD8));
      }
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(latent + i),
                          _mm256_permute4x64_epi64(_mm256_packs_epi16(moved[0], moved[1]), 0xD8));
    }
    step_stored(latent + i, count - i, 127, [&](int64_t k) { return int32_t(changes[i + k]); });
  }

  static void arrange(const uint64_t* const* x, int64_t words, uint8_t* index) {
    for (int64_t word = 0; word < words; ++word) {
      for (int64_t block = 0; block < 2; ++block, index += 32) {
        alignas(16) uint64_t rows[4];
        for (int64_t r = 0; r < 4; ++r) {
          uint64_t square = 0;
          for (int64_t j = 0; j < 8; ++j) square |= x[j] ? ((x[j][word] >> (32 * block + 8 * r)) & 255) << (8 * j) : 0;
          rows[r] = transpose8(square);
        }
        const __m128i front = _mm_load_si128(reinterpret_cast<const __m128i*>(rows));
        const __m128i back = _mm_load_si128(reinterpret_cast<const __m128i*>(rows + 2));
        const __m128i even = _mm_unpacklo_epi8(front, back), odd = _mm_unpackhi_epi8(front, back);
        _mm_store_si128(reinterpret_cast<__m128i*>(index), _mm_unpacklo_epi8(even, odd));
        _mm_store_si128(reinterpret_cast<__m128i*>(index + 16), _mm_unpackhi_epi8(even, odd));
      }
    }
  }

  static void build(const int16_t* g, uint8_t* table) {
    __m256i sums[2][2];
    subset_sums(g, sums[0]);
    subset_sums(g + 4, sums[1]);
    for (int d = 0; d < kDigits; ++d) store(table + 32 * d, digit_tables(sums, kDigitBits * d, (1 << kDigitBits) - 1));
  }
};

}  // namespace

extern const LatentUpdate kLatentUpdateAvx2 = {Sixteens<Avx2Tables>::scratch_bytes, Sixteens<Avx2Tables>::run};

void latent_signs_avx2(const LatentSignsArgs& a) {
  if (a.bits != 8) return signs_bits(a);
  for (int64_t row = 0; row < a.rows; ++row) {
    const int8_t* latent = static_cast<const int8_t*>(a.latent) + row * a.channels;
    uint64_t* w = a.w + row * a.words;
    const int64_t whole = a.channels / kWord;
    for (int64_t word = 0; word < whole; ++word) {
      const __m256i* at = reinterpret_cast<const __m256i*>(latent + word * kWord);
      const uint32_t low = uint32_t(_mm256_movemask_epi8(_mm256_loadu_si256(at)));
      const uint32_t high = uint32_t(_mm256_movemask_epi8(_mm256_loadu_si256(at + 1)));
      w[word] = ~(low | uint64_t(high) << 32);
    }
    if (whole < a.words) w[whole] = signs_of_word(latent + whole * kWord, a.channels - whole * kWord);
  }
}

}  // namespace bitreplay
