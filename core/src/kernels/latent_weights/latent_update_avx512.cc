// Six samples make a table of 64 sums, looked up by vpermb.
//
// T is at most 6 * 2^15 < 2^18: three digits of 6 bits, each with its own table of 64 bytes. Four look-ups add up in a
// byte (4 * 63 < 256). Bytes are gathered in 16-bit lanes by two additions: `low` adds the lanes as they are, modulo
// 2^16, and `high` their upper bytes, so that the sum of the lower bytes is low - 256 high.
//
// Lane 4 j + r of 64 index bytes is channel 16 r + j, so that 16-bit sums widen to 16 neighbours without a shuffle.
// Bits of an index byte: samples 4, 5, 0, 1, 2, 3, so that byte q of 32-bit lane j of a table is entry 4 j + q.
//
// Bound: for 128 channels and four items (3072 products) 24 vpermb, 36 additions and 20 loads of 64 bytes: 30 cycles at
// two operations and one load a cycle, where tables and index bytes (30 KB) stay in the first-level cache.
#include <immintrin.h>

#include "kernels/latent_weights/latent_scan_avx512.h"
#include "kernels/latent_weights/latent_step_avx512.h"

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
          const __m512i entry = _mm512_permutexvar_epi8(places[n][v], entries);
          digits[v] = n == 0 ? entry : _mm512_add_epi8(digits[v], entry);
        }
      }
      for (int v = 0; v < V; ++v) {
        low[d][v] = _mm512_add_epi16(low[d][v], digits[v]);
        // A shift would do, but takes the port of vpermb.
        high[d][v] = _mm512_add_epi16(high[d][v], _mm512_maddubs_epi16(digits[v], upper));
      }
    }
  }

  void flush(uint32_t minus, uint32_t* sums) const {
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
  }
};

struct Table64 {
  using Sum = uint32_t;
  using Gradient = int16_t;
  static constexpr int64_t kGroup = 6, kTableBytes = kDigits * 64, kItems = 100, kWords = 2;

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
        const __m512i moved =
            up >= 0 ? _mm512_slli_epi32(sums[q], unsigned(up)) : _mm512_srli_epi32(sums[q], unsigned(-up));
        // digits | moved & mask
        digits = _mm512_ternarylogic_epi32(digits, moved, _mm512_set1_epi32(63 << (8 * q)), 0xF8);
      }
      _mm512_store_si512(table + 64 * d, digits);
    }
  }

  // At most 256 times four items: 256 * 252 fits 16 bits.
  template <int V>
  [[gnu::noinline]] static void add_part(const LatentRuns<Sum>& runs, int64_t block, uint32_t* sums) {
    const int64_t lanes = runs.lanes;
    Sums<V> total;
    total.clear();
    runs.each(block, [&](const uint8_t* table, const uint8_t* index) {
      int64_t left = runs.length;
      for (; left >= 4; left -= 4, table += 4 * kTableBytes, index += 4 * lanes)
        total.template add<4>(table, index, lanes);
      if (left == 3) total.template add<3>(table, index, lanes);
      else if (left == 2) total.template add<2>(table, index, lanes);
      else if (left == 1) total.template add<1>(table, index, lanes);
    });
    total.flush(runs.minus, sums);
  }

  static void add_up(const LatentRuns<Sum>& runs, int64_t block, int64_t words, uint32_t* sums) {
    runs.in_parts(4 * 256, 4, kTableBytes, [&](const LatentRuns<Sum>& part) {
      if (words == 2) add_part<2>(part, block, sums);
      else add_part<1>(part, block, sums);
    });
  }

  static void step(const LatentUpdateArgs& a, int64_t row, const uint32_t* sums) { step_row_avx512(a, row, sums); }
};

uint64_t scratch_bytes(const LatentUpdateArgs& a) {
  const int64_t own = int64_t(rare_scratch_bytes<ScanAvx512, Table64>(a));
  return uint64_t(max_of(own, sums_are_narrow(a) ? 0 : int64_t(kLatentUpdateScalar.scratch_bytes(a))));
}

void run(const LatentUpdateArgs& a) {
  if (!sums_are_narrow(a)) return kLatentUpdateScalar.run(a);
  run_rare<ScanAvx512, Table64>(a);
}

}  // namespace

extern const LatentUpdate kLatentUpdateAvx512 = {scratch_bytes, run};

}  // namespace bitreplay
