// Tables of 64 signed subset sums of six gradients, two of them side by side in 128 bytes for vpermi2b.
//
// A sum s of six gradients is made positive (s + bias) and cut into digits of 7 bits (int16: three) or 6 bits (int8:
// two); each digit has its own table of bytes. Derived weights are bytes: six weight bits, and above them one bit that
// says which of the two tables. Lanes 2 c and 2 c + 1 of a vector are one channel, so that one vpermi2b looks up 32
// channels by 12 outputs. Two look-ups are added as bytes (digits are below 128), the two tables then by vpmaddubsw
// with ones into 16 bits (22 times at most 508), and the digits in the end by vpmaddwd with their values.
// sum = sum of digits 2^(bits d) - biases, modulo 2^32.
//
// Derived: [channels / 128][kernel * kernel][vectors][4][64 bytes], vectors = outputs / 12, made even.
// Bound: 384 products for each digit in 1.5 cycles: vpermi2b takes one, and the additions take some of its port.
// (vpdpbusd instead of vpmaddubsw would be one operation less, but is slower; so is adding four digits of 6 bits as
// bytes, since there are too few registers.) The tables of a few output pixels stay in the first-level cache while the
// weights stream past.
#include <immintrin.h>

#include "arithmetic/sliding_window.h"
#include "bitreplay.h"
#include "kernels/binary_conv/binary_conv_input_grad.h"

namespace bitreplay {
namespace {

constexpr int64_t kOutputs = 12, kGroup = 6, kTables = 2, kBlocks = 4, kLanes = 32, kChannels = kBlocks * kLanes;
constexpr int64_t kVectorBytes = kBlocks * 64, kTableBytes = 128;
constexpr int64_t kMaxVectors = 44, kPixels = 4;  // tables held at a time, of so many pixels at most

int64_t vectors_of(const BinaryConvInputGradArgs& a) { return (a.outputs + 2 * kOutputs - 1) / (2 * kOutputs) * 2; }

bool serves(const BinaryConvInputGradArgs& a) {
  return (a.g_type == BR_INT8 || a.g_type == BR_INT16) && a.gx_type == BR_INT32;
}

uint64_t packed_weights_bytes(const BinaryConvInputGradArgs& a) {
  if (!serves(a)) return kBinaryConvInputGradScalar.packed_weights_bytes(a);
  const int64_t groups = (a.channels + kChannels - 1) / kChannels;
  return uint64_t(groups * a.kernel * a.kernel * vectors_of(a) * kVectorBytes);
}

// A word of weights is a mask of 64 channels: six of them set the bits of an index, and a permutation brings the
// indices of both tables side by side, in an order in which unpacking leaves 16 neighbours to `finish`.
void pack_weights(const BinaryConvInputGradArgs& a, uint8_t* packed_weights) {
  if (!serves(a)) return kBinaryConvInputGradScalar.pack_weights(a, packed_weights);
  const int64_t taps = a.kernel * a.kernel, vectors = vectors_of(a);
  alignas(64) uint8_t places[64];
  for (int i = 0; i < 32; ++i) {
    places[2 * i] = uint8_t(16 * (i / 4 % 2) + 4 * (i / 8) + i % 4);
    places[2 * i + 1] = uint8_t(64 + places[2 * i]);
  }
  const __m512i low = _mm512_load_si512(places), order[2] = {low, _mm512_add_epi8(low, _mm512_set1_epi8(32))};
  for (int64_t first = 0; first < a.channels; first += kChannels) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      for (int64_t vector = 0; vector < vectors; ++vector) {
        for (int64_t word = first / 64; word < first / 64 + 2; ++word) {
          __m512i index[kTables];
          for (int64_t table = 0; table < kTables; ++table) {
            index[table] = _mm512_set1_epi8(char(table << kGroup));
            for (int64_t j = 0; j < kGroup; ++j) {
              const int64_t o = vector * kOutputs + table * kGroup + j;
              const __mmask64 ones = o < a.outputs && word < a.words ? a.w[(o * taps + tap) * a.words + word] : 0;
              index[table] = _mm512_mask_add_epi8(index[table], ones, index[table], _mm512_set1_epi8(char(1 << j)));
            }
          }
          for (int half = 0; half < 2; ++half, packed_weights += 64)
            _mm512_store_si512(packed_weights, _mm512_permutex2var_epi8(index[0], order[half], index[1]));
        }
      }
    }
  }
}

template <class G>
struct Digits;
template <>
struct Digits<int8_t> {
  static constexpr int kCount = 2, kBits = 6, kBias = 6 * 128;
};
template <>
struct Digits<int16_t> {
  static constexpr int kCount = 3, kBits = 7, kBias = 6 * 32768;
};

// Constants of table building. Entry m of a table: +g_j where bit j of m is set, else -g_j.
struct Signs {
  __m512i pair01, pair23, pair45[4], digits, gather01, gather2;

  explicit Signs(int bits) {
    alignas(64) int16_t p01[32], p23[32];
    alignas(64) uint8_t cut[64], g01[64], g2[64];
    for (int m = 0; m < 16; ++m) {
      p01[2 * m] = m & 1 ? 1 : -1;
      p01[2 * m + 1] = m & 2 ? 1 : -1;
      p23[2 * m] = m & 4 ? 1 : -1;
      p23[2 * m + 1] = m & 8 ? 1 : -1;
    }
    for (int m = 0; m < 4; ++m) {
      const uint32_t first = m & 1 ? 1 : 0xFFFF, second = m & 2 ? 1 : 0xFFFF;
      pair45[m] = _mm512_set1_epi32(int32_t(first | second << 16));
    }
    for (int i = 0; i < 64; ++i) {
      cut[i] = uint8_t((i & 4 ? 32 : 0) + bits * (i & 3) % 32);
      g01[i] = uint8_t(4 * (i % 32) + i / 32);  // byte 0 of 32 sums, then byte 1
      g2[i] = uint8_t(4 * (i % 32) + 2);
    }
    pair01 = _mm512_load_si512(p01);
    pair23 = _mm512_load_si512(p23);
    digits = _mm512_load_si512(cut);
    gather01 = _mm512_load_si512(g01);
    gather2 = _mm512_load_si512(g2);
  }
};

// Two gradients as one number to broadcast.
inline __m512i broadcast2(const int16_t* g) {
  int32_t both;
  __builtin_memcpy(&both, g, sizeof both);
  return _mm512_set1_epi32(both);
}

// Tables of one output pixel: vectors * kCount * 128 bytes. `g` holds 12 gradients a vector.
template <class G>
void build(const Signs& signs, const int16_t* g, int64_t vectors, uint8_t* tables) {
  using D = Digits<G>;
  const __m512i bias = _mm512_set1_epi32(D::kBias), digit = _mm512_set1_epi8((1 << D::kBits) - 1);
  for (int64_t vector = 0; vector < vectors; ++vector, tables += D::kCount * kTableBytes) {
    for (int table = 0; table < kTables; ++table, g += kGroup) {
      const __m512i four =
          _mm512_dpwssd_epi32(_mm512_dpwssd_epi32(bias, signs.pair01, broadcast2(g)), signs.pair23, broadcast2(g + 2));
      __m512i cut[4];
      for (int m = 0; m < 4; ++m)
        cut[m] =
            _mm512_multishift_epi64_epi8(signs.digits, _mm512_dpwssd_epi32(four, signs.pair45[m], broadcast2(g + 4)));
      const __m512i a = _mm512_permutex2var_epi8(cut[0], signs.gather01, cut[1]);
      const __m512i b = _mm512_permutex2var_epi8(cut[2], signs.gather01, cut[3]);
      __m512i digit0 = _mm512_shuffle_i64x2(a, b, 0x44), digit1 = _mm512_shuffle_i64x2(a, b, 0xEE);
      digit0 = _mm512_and_si512(digit0, digit);
      if (D::kCount == 3) {
        digit1 = _mm512_and_si512(digit1, digit);
        const __m512i c = _mm512_permutex2var_epi8(cut[0], signs.gather2, cut[1]);
        const __m512i d = _mm512_permutex2var_epi8(cut[2], signs.gather2, cut[3]);
        _mm512_store_si512(tables + 2 * kTableBytes + 64 * table, _mm512_shuffle_i64x2(c, d, 0x44));
      }
      _mm512_store_si512(tables + 64 * table, digit0);
      _mm512_store_si512(tables + kTableBytes + 64 * table, digit1);
    }
  }
}

// Adds 16 channels: their digits' sums, in pairs of words.
template <class G>
inline void finish(__m512i digits01, __m512i digit2, __m512i biases, int32_t* gx, int64_t channels) {
  using D = Digits<G>;
  if (channels <= 0) return;
  const __mmask16 mask = channels >= 16 ? __mmask16(0xFFFF) : __mmask16((1 << channels) - 1);
  __m512i total = _mm512_sub_epi32(_mm512_maskz_loadu_epi32(mask, gx), biases);
  total = _mm512_add_epi32(total, _mm512_madd_epi16(digits01, _mm512_set1_epi32(1 | 1 << (16 + D::kBits))));
  if (D::kCount == 3) total = _mm512_add_epi32(total, _mm512_madd_epi16(digit2, _mm512_set1_epi32(1 << 2 * D::kBits)));
  _mm512_mask_storeu_epi32(gx, mask, total);
}

// Adds the contribution of one output pixel through one tap to 32 kUsed channels of an input pixel.
template <class G, int kUsed>
void look_up(const uint8_t* tables, const uint8_t* weights, int64_t vectors, int32_t* gx, int64_t channels) {
  using D = Digits<G>;
  const __m512i ones = _mm512_set1_epi8(1), none = _mm512_setzero_si512();
  __m512i sums[D::kCount][kUsed];
  for (int d = 0; d < D::kCount; ++d)
    for (int b = 0; b < kUsed; ++b) sums[d][b] = none;
  for (int64_t vector = 0; vector < vectors; vector += 2) {
    __m512i first[kUsed], second[kUsed];
    for (int b = 0; b < kUsed; ++b) {
      first[b] = _mm512_load_si512(weights + 64 * b);
      second[b] = _mm512_load_si512(weights + kVectorBytes + 64 * b);
      // vpermi2b overwrites its index: let the compiler copy the register, which is free, not load it again.
      asm("" : "+v"(first[b]), "+v"(second[b]));
    }
    for (int d = 0; d < D::kCount; ++d) {
      const uint8_t *table = tables + d * kTableBytes, *next = table + D::kCount * kTableBytes;
      const __m512i low0 = _mm512_load_si512(table), high0 = _mm512_load_si512(table + 64);
      const __m512i low1 = _mm512_load_si512(next), high1 = _mm512_load_si512(next + 64);
      for (int b = 0; b < kUsed; ++b) {
        const __m512i digits = _mm512_add_epi8(_mm512_permutex2var_epi8(low0, first[b], high0),
                                               _mm512_permutex2var_epi8(low1, second[b], high1));
        sums[d][b] = _mm512_add_epi16(sums[d][b], _mm512_maddubs_epi16(digits, ones));
      }
    }
    tables += 2 * D::kCount * kTableBytes;
    weights += 2 * kVectorBytes;
  }
  const __m512i biases = _mm512_set1_epi32(int32_t(uint32_t(D::kBias) * kTables * uint32_t(vectors)));
  for (int b = 0; b < kUsed; ++b) {
    const __m512i last = sums[D::kCount - 1][b];
    const int64_t at = b * kLanes;
    finish<G>(_mm512_unpacklo_epi16(sums[0][b], sums[1][b]), _mm512_unpacklo_epi16(last, none), biases, gx + at,
              channels - at);
    finish<G>(_mm512_unpackhi_epi16(sums[0][b], sums[1][b]), _mm512_unpackhi_epi16(last, none), biases, gx + at + 16,
              channels - at - 16);
  }
}

template <class G>
void run_as(const BinaryConvInputGradArgs& a) {
  using D = Digits<G>;
  const Signs signs(D::kBits);
  const int64_t vectors = vectors_of(a), pixels = a.out_h * a.out_w, taps = a.kernel * a.kernel;
  int32_t* gx = static_cast<int32_t*>(a.gx);
  __builtin_memset(gx, 0, size_t(a.samples * a.height * a.width * a.channels) * sizeof *gx);
  alignas(64) uint8_t tables[kMaxVectors * D::kCount * kTableBytes];
  for (int64_t first = 0; first < vectors; first += kMaxVectors) {
    const int64_t held = vectors - first < kMaxVectors ? vectors - first : kMaxVectors;
    const int64_t max_together = kMaxVectors / held < kPixels ? kMaxVectors / held : kPixels;
    const int64_t table_bytes = held * D::kCount * kTableBytes;
    for (int64_t q0 = 0; q0 < a.samples * pixels; q0 += max_together) {
      const int64_t together = a.samples * pixels - q0 < max_together ? a.samples * pixels - q0 : max_together;
      TapRange rows[kPixels], columns[kPixels];
      for (int64_t k = 0; k < together; ++k) {
        int16_t row[kMaxVectors * kOutputs];
        const G* g = static_cast<const G*>(a.g) + (q0 + k) * a.outputs + first * kOutputs;
        const int64_t there = a.outputs - first * kOutputs;
        for (int64_t i = 0; i < held * kOutputs; ++i) row[i] = i < there ? int16_t(g[i]) : int16_t(0);
        build<G>(signs, row, held, tables + k * table_bytes);
        rows[k] = taps_inside((q0 + k) % pixels / a.out_w, a.stride, a.pad, a.kernel, a.height);
        columns[k] = taps_inside((q0 + k) % a.out_w, a.stride, a.pad, a.kernel, a.width);
      }
      for (int64_t channel = 0; channel < a.channels; channel += kChannels) {
        for (int64_t tap = 0; tap < taps; ++tap) {
          const int64_t r = tap / a.kernel, c = tap % a.kernel;
          const uint8_t* weights =
              a.packed_weights + ((channel / kChannels * taps + tap) * vectors + first) * kVectorBytes;
          for (int64_t k = 0; k < together; ++k) {
            if (r < rows[k].first || r >= rows[k].last || c < columns[k].first || c >= columns[k].last) continue;
            const int64_t q = q0 + k, y = q % pixels / a.out_w * a.stride + r - a.pad,
                          x = q % a.out_w * a.stride + c - a.pad;
            int32_t* to = gx + ((q / pixels * a.height + y) * a.width + x) * a.channels + channel;
            const int64_t channels = a.channels - channel;
            if (channels > kChannels / 2) look_up<G, kBlocks>(tables + k * table_bytes, weights, held, to, channels);
            else look_up<G, kBlocks / 2>(tables + k * table_bytes, weights, held, to, channels);
          }
        }
      }
    }
  }
}

void run(const BinaryConvInputGradArgs& a) {
  if (!serves(a)) return kBinaryConvInputGradScalar.run(a);
  if (a.g_type == BR_INT8) return run_as<int8_t>(a);
  return run_as<int16_t>(a);
}

}  // namespace

extern const BinaryConvInputGrad kBinaryConvInputGradAvx512 = {packed_weights_bytes, pack_weights, run};

}  // namespace bitreplay
