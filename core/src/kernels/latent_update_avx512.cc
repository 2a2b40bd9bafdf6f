// Six samples make a table of 64 sums, looked up by vpermb.
//
// T is below 6 * 2^15 < 2^18: three digits of 6 bits, each with its own table of 64 bytes. Four look-ups add up in a byte
// (4 * 63 < 256). Bytes are gathered in 16-bit lanes by two additions: `low` adds the lanes as they are, modulo 2^16, and
// `high` their upper bytes, so that the sum of the lower bytes is low - 256 high.
//
// Lane 4 j + r of 64 index bytes is channel 16 r + j, so that 16-bit sums widen to 16 neighbours without a shuffle. Bits
// of an index byte: samples 4, 5, 0, 1, 2, 3, so that byte q of 32-bit lane j of a table is entry 4 j + q.
//
// Bound: 3 vpermb and 6 additions and shifts for 384 products; two operations a cycle make 85 products a cycle.
#include <immintrin.h>

#include "kernels/latent_step.h"
#include "kernels/latent_update_loops.h"

namespace bitreplay {
namespace {

constexpr int kDigits = 3, kDigitBits = 6;

// 32-bit lane j, 16-bit pairs: 1 where bit `first`, `second` of j is set.
inline __m512i bit_pairs(int first, int second) {
  alignas(64) int16_t pairs[32];
  for (int j = 0; j < 16; ++j) {
    pairs[2 * j] = int16_t(j >> first & 1);
    pairs[2 * j + 1] = int16_t(j >> second & 1);
  }
  return _mm512_load_si512(pairs);
}

inline __m512i broadcast2(const int16_t* g) {
  int32_t both;
  __builtin_memcpy(&both, g, sizeof both);
  return _mm512_set1_epi32(both);
}

template <int V>
struct Sums {
  __m512i low[kDigits][V], high[kDigits][V];

  void clear() {
    for (int d = 0; d < kDigits; ++d)
      for (int v = 0; v < V; ++v) low[d][v] = high[d][v] = _mm512_setzero_si512();
  }

  // N <= 4 items.
  template <int N>
  void add(const uint8_t* table, const uint8_t* index, int64_t lanes) {
    const __m512i upper = _mm512_set1_epi16(0x0100);
    __m512i places[N][V];
    for (int n = 0; n < N; ++n)
      for (int v = 0; v < V; ++v) {
        places[n][v] = _mm512_load_si512(index + n * lanes + 64 * v);
        asm("" : "+v"(places[n][v]));  // load once, not as an operand of each look-up: loads would be the bound
      }
    for (int d = 0; d < kDigits; ++d) {
      __m512i digits[V];
      for (int n = 0; n < N; ++n) {
        __m512i entries = _mm512_load_si512(table + (n * kDigits + d) * 64);
        asm("" : "+v"(entries));
        for (int v = 0; v < V; ++v) {
          const __m512i found = _mm512_permutexvar_epi8(places[n][v], entries);
          digits[v] = n == 0 ? found : _mm512_add_epi8(digits[v], found);
        }
      }
      for (int v = 0; v < V; ++v) {
        low[d][v] = _mm512_add_epi16(low[d][v], digits[v]);
        // A shift would do, but takes the port of vpermb.
        high[d][v] = _mm512_add_epi16(high[d][v], _mm512_maddubs_epi16(digits[v], upper));
      }
    }
  }

  void flush(uint32_t minus, uint32_t* sums) {
    const __m512i lower = _mm512_set1_epi32(0xFFFF), constant = _mm512_set1_epi32(int32_t(minus));
    for (int v = 0; v < V; ++v) {
      __m512i parts[4];
      for (int d = kDigits - 1; d >= 0; --d) {
        const __m512i odd = high[d][v], even = _mm512_sub_epi16(low[d][v], _mm512_slli_epi16(odd, 8));
        const __m512i digit[4] = {_mm512_and_si512(even, lower), _mm512_and_si512(odd, lower),
                                  _mm512_srli_epi32(even, 16), _mm512_srli_epi32(odd, 16)};
        for (int r = 0; r < 4; ++r)
          parts[r] = d == kDigits - 1 ? digit[r] : _mm512_add_epi32(_mm512_slli_epi32(parts[r], kDigitBits), digit[r]);
      }
      for (int r = 0; r < 4; ++r) {
        uint32_t* to = sums + 64 * v + 16 * r;
        const __m512i change = _mm512_sub_epi32(_mm512_slli_epi32(parts[r], 1), constant);
        _mm512_store_si512(to, _mm512_add_epi32(_mm512_load_si512(to), change));
      }
    }
    clear();
  }
};

// 16 latent weights of one width as 32-bit lanes.
inline __m512i load_latent(const int8_t* from, __mmask16 mask) {
  return _mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(mask, from));
}
inline __m512i load_latent(const int16_t* from, __mmask16 mask) {
  return _mm512_cvtepi16_epi32(_mm256_maskz_loadu_epi16(mask, from));
}
inline void store_latent(int8_t* to, __mmask16 mask, __m512i x) { _mm512_mask_cvtsepi32_storeu_epi8(to, mask, x); }
inline void store_latent(int16_t* to, __mmask16 mask, __m512i x) { _mm512_mask_cvtsepi32_storeu_epi16(to, mask, x); }

// Two weights in a byte.
struct Halves {};
inline __mmask16 byte_mask(__mmask16 mask) { return __mmask16((1u << ((__builtin_popcount(mask) + 1) / 2)) - 1); }
inline __m512i load_halves(const uint8_t* from, __mmask16 mask) {
  const __m128i bytes = _mm_cvtepu8_epi16(_mm_maskz_loadu_epi8(byte_mask(mask), from));
  const __m128i halves = _mm_and_si128(_mm_or_si128(bytes, _mm_slli_epi16(bytes, 4)), _mm_set1_epi8(15));
  const __m512i eight = _mm512_set1_epi32(8);
  return _mm512_sub_epi32(_mm512_xor_si512(_mm512_cvtepu8_epi32(halves), eight), eight);
}
inline void store_halves(uint8_t* to, __mmask16 mask, __m512i x) {
  x = _mm512_min_epi32(_mm512_max_epi32(x, _mm512_set1_epi32(-8)), _mm512_set1_epi32(7));
  const __m128i halves = _mm512_cvtepi32_epi8(_mm512_maskz_and_epi32(mask, x, _mm512_set1_epi32(15)));
  const __m128i pairs = _mm_maddubs_epi16(halves, _mm_set1_epi16(0x1001));  // even + 16 odd
  _mm_mask_storeu_epi8(to, byte_mask(mask), _mm_packus_epi16(pairs, pairs));
}

// What the step takes from 16 weights: floor((sum * mantissa + random bits) / 2^shift). For a shift of 32 or more that is
// the upper half of floor(sum * mantissa / 2^(shift - 32)) + random, below 2^31; a smaller one is cut to 2^20.
class Change {
 public:
  Change(const LatentUpdateArgs& a, const NarrowStep& step, uint32_t first)
      : large_(step.shift >= 32),
        mantissa_(_mm512_set1_epi64(step.mantissa)),
        shift_(_mm_cvtsi64_si128(large_ ? step.shift - 32 : step.shift)),
        random_down_(_mm_cvtsi64_si128(step.random_down)),
        key_high_(_mm512_set1_epi32(int32_t(a.step.key >> 32))) {
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    place_ = _mm512_add_epi32(
        _mm512_mullo_epi32(_mm512_add_epi32(lanes, _mm512_set1_epi32(int32_t(first))), _mm512_set1_epi32(int32_t(kElement))),
        _mm512_set1_epi32(int32_t(a.step.key)));
  }

  bool large() const { return large_; }

  template <bool kLarge>
  __m512i next(__m512i sums) {
    const __m512i random = hash(), lower = _mm512_set1_epi64(0xFFFFFFFF);
    __m512i even = _mm512_mul_epi32(sums, mantissa_), odd = _mm512_mul_epi32(_mm512_srli_epi64(sums, 32), mantissa_);
    const __m512i random_even = _mm512_and_si512(random, lower), random_odd = _mm512_srli_epi64(random, 32);
    if (kLarge) {
      even = _mm512_add_epi64(_mm512_sra_epi64(even, shift_), random_even);
      odd = _mm512_add_epi64(_mm512_sra_epi64(odd, shift_), random_odd);
      return _mm512_mask_blend_epi32(0xAAAA, _mm512_srli_epi64(even, 32), odd);
    }
    even = cut(_mm512_sra_epi64(_mm512_add_epi64(even, _mm512_srl_epi64(random_even, random_down_)), shift_));
    odd = cut(_mm512_sra_epi64(_mm512_add_epi64(odd, _mm512_srl_epi64(random_odd, random_down_)), shift_));
    return _mm512_mask_blend_epi32(0xAAAA, even, _mm512_slli_epi64(odd, 32));
  }

 private:
  static constexpr uint32_t kElement = 0x9E3779B1u;

  // random_bits (counter.h); the next call is 16 elements further.
  __m512i hash() {
    __m512i x = place_;
    place_ = _mm512_add_epi32(place_, _mm512_set1_epi32(int32_t(16 * kElement)));
    x = _mm512_xor_si512(x, _mm512_srli_epi32(x, 16));
    x = _mm512_mullo_epi32(x, _mm512_set1_epi32(int32_t(0x85EBCA6Bu)));
    x = _mm512_ternarylogic_epi32(x, _mm512_srli_epi32(x, 13), key_high_, 0x96);  // exclusive or of three
    x = _mm512_mullo_epi32(x, _mm512_set1_epi32(int32_t(0xC2B2AE35u)));
    return _mm512_xor_si512(x, _mm512_srli_epi32(x, 16));
  }

  static __m512i cut(__m512i x) {
    const __m512i most = _mm512_set1_epi64(1 << 20);
    return _mm512_max_epi64(_mm512_min_epi64(x, most), _mm512_sub_epi64(_mm512_setzero_si512(), most));
  }

  bool large_;
  __m512i mantissa_;
  __m128i shift_, random_down_;
  __m512i key_high_, place_;
};

// each(i, mask, change) for 16 weights from i on.
template <bool kLarge, class Each>
inline void over_row(Change change, int64_t channels, const uint32_t* sums, Each each) {
  for (int64_t i = 0; i < channels; i += 16) {
    const __mmask16 mask = channels - i >= 16 ? __mmask16(0xFFFF) : __mmask16((1 << (channels - i)) - 1);
    each(i, mask, change.next<kLarge>(_mm512_load_si512(sums + i)));
  }
}

template <class T>
inline auto stepper(T* latent) {
  return [=](int64_t i, __mmask16 mask, __m512i change) {
    store_latent(latent + i, mask, _mm512_sub_epi32(load_latent(latent + i, mask), change));
  };
}
inline auto stepper_of_halves(uint8_t* latent) {
  return [=](int64_t i, __mmask16 mask, __m512i change) {
    store_halves(latent + i / 2, mask, _mm512_sub_epi32(load_halves(latent + i / 2, mask), change));
  };
}

struct Table64 {
  using Sum = uint32_t;
  using Gradient = int16_t;
  static constexpr int64_t kGroup = 6, kTableBytes = kDigits * 64, kItems = 100;

  static void arrange(const uint64_t* const* x, int64_t words, uint8_t* index) {
    alignas(64) uint8_t order[64];
    for (int i = 0; i < 64; ++i) order[i] = uint8_t(16 * (i % 4) + i / 4);
    for (int64_t word = 0; word < words; ++word, index += 64) {
      __m512i bytes = _mm512_setzero_si512();
      for (int j = 0; j < kGroup; ++j) {
        const __mmask64 ones = x[j] ? x[j][word] : 0;
        bytes = _mm512_mask_add_epi8(bytes, ones, bytes, _mm512_set1_epi8(char(1 << (j + 2) % 6)));
      }
      _mm512_store_si512(index, _mm512_permutexvar_epi8(_mm512_load_si512(order), bytes));
    }
  }

  static void build(const int16_t* g, uint8_t* table) {
    const __m512i zero = _mm512_setzero_si512(), minus = _mm512_set1_epi16(-1);
    const __m512i g01 = broadcast2(g), g23 = broadcast2(g + 2), g45 = broadcast2(g + 4);
    // Nothing set: the samples of negative g have its sign.
    __m512i base = _mm512_dpwssd_epi32(zero, minus, _mm512_min_epi16(g01, zero));
    base = _mm512_dpwssd_epi32(base, minus, _mm512_min_epi16(g23, zero));
    base = _mm512_dpwssd_epi32(base, minus, _mm512_min_epi16(g45, zero));
    base = _mm512_dpwssd_epi32(_mm512_dpwssd_epi32(base, bit_pairs(0, 1), g01), bit_pairs(2, 3), g23);
    const __m512i sums[4] = {base, _mm512_dpwssd_epi32(base, _mm512_set1_epi32(1), g45),
                             _mm512_dpwssd_epi32(base, _mm512_set1_epi32(1 << 16), g45),
                             _mm512_dpwssd_epi32(base, _mm512_set1_epi16(1), g45)};
    for (int d = 0; d < kDigits; ++d) {
      __m512i digits = zero;
      for (int q = 0; q < 4; ++q) {
        const int up = 8 * q - kDigitBits * d;
        const __m512i moved = up >= 0 ? _mm512_slli_epi32(sums[q], unsigned(up)) : _mm512_srli_epi32(sums[q], unsigned(-up));
        digits = _mm512_ternarylogic_epi32(digits, moved, _mm512_set1_epi32(63 << (8 * q)), 0xF8);  // digits | moved & mask
      }
      _mm512_store_si512(table + 64 * d, digits);
    }
  }

  template <int V>
  static void add_up(const LatentRuns& runs, int64_t lanes, uint32_t minus, int64_t at, uint32_t* sums) {
    constexpr int64_t kMost = 256;  // 256 times 252 fits 16 bits
    int64_t room = kMost;
    Sums<V> total;
    total.clear();
    runs.each([&](const uint8_t* table, const uint8_t* index) {
      index += at;
      int64_t left = runs.length;
      for (; left > 0; left -= 4, table += 4 * kTableBytes, index += 4 * lanes) {
        if (room-- == 0) {
          total.flush(minus, sums + at);
          minus = 0;
          room = kMost - 1;
        }
        if (left >= 4) total.template add<4>(table, index, lanes);
        else if (left == 3) total.template add<3>(table, index, lanes);
        else if (left == 2) total.template add<2>(table, index, lanes);
        else total.template add<1>(table, index, lanes);
      }
    });
    total.flush(minus, sums + at);
  }

  static void add_up(const LatentRuns& runs, int64_t words, uint32_t minus, uint32_t* sums) {
    int64_t word = 0;
    for (; word + 2 <= words; word += 2) add_up<2>(runs, words * kWord, minus, word * kWord, sums);
    if (word < words) add_up<1>(runs, words * kWord, minus, word * kWord, sums);
  }

  static void step(const LatentUpdateArgs& a, int64_t row, const uint32_t* sums) {
    const NarrowStep narrow(a);
    if (!narrow.serves || a.bits == 32) return step_row(a, row, sums);
    const Change change(a, narrow, uint32_t(row * a.channels));
    const auto over = [&](auto each) {
      if (change.large()) over_row<true>(change, a.channels, sums, each);
      else over_row<false>(change, a.channels, sums, each);
    };
    if (a.bits == 4) over(stepper_of_halves(static_cast<uint8_t*>(a.latent) + row * ((a.channels + 1) / 2)));
    else if (a.bits == 8) over(stepper(static_cast<int8_t*>(a.latent) + row * a.channels));
    else over(stepper(static_cast<int16_t*>(a.latent) + row * a.channels));
  }
};

uint64_t scratch_bytes(const LatentUpdateArgs& a) {
  const int64_t own = gradients_are_narrow(a) ? LatentPlan<Table64>(a).end : 0;
  return uint64_t(most(own, sums_are_narrow(a) ? 0 : int64_t(kLatentUpdateScalar.scratch_bytes(a))));
}

void run(const LatentUpdateArgs& a) {
  if (!sums_are_narrow(a)) return kLatentUpdateScalar.run(a);
  LatentLoops<Table64>(a).run();
}

// The signs of up to 64 weights from `at` on.
inline uint64_t not_negative(const int8_t* at, __mmask64 mask) {
  return _knot_mask64(_mm512_movepi8_mask(_mm512_maskz_loadu_epi8(mask, at))) & mask;
}
inline uint64_t not_negative(const int16_t* at, __mmask64 mask) {
  const uint64_t low = _mm512_movepi16_mask(_mm512_maskz_loadu_epi16(__mmask32(mask), at));
  const uint64_t high = _mm512_movepi16_mask(_mm512_maskz_loadu_epi16(__mmask32(mask >> 32), at + 32));
  return ~(low | high << 32) & mask;
}
inline uint64_t not_negative(const int32_t* at, __mmask64 mask) {
  uint64_t negative = 0;
  for (int k = 0; k < 64; k += 16)
    negative |= uint64_t(_mm512_movepi32_mask(_mm512_maskz_loadu_epi32(__mmask16(mask >> k), at + k))) << k;
  return ~negative & mask;
}

template <class T>
void signs_as(const LatentSignsArgs& a) {
  for (int64_t row = 0; row < a.rows; ++row) {
    const T* latent = static_cast<const T*>(a.latent) + row * a.channels;
    for (int64_t word = 0; word < a.words; ++word) {
      const int64_t lanes = least(kWord, a.channels - word * kWord);
      a.w[row * a.words + word] = not_negative(latent + word * kWord, ~uint64_t(0) >> (kWord - lanes));
    }
  }
}

}  // namespace

extern const LatentUpdate kLatentUpdateAvx512 = {scratch_bytes, run};

void latent_signs_avx512(const LatentSignsArgs& a) {
  if (a.bits == 8) return signs_as<int8_t>(a);
  if (a.bits == 16) return signs_as<int16_t>(a);
  if (a.bits == 32) return signs_as<int32_t>(a);
  signs_bits(a);
}

}  // namespace bitreplay
