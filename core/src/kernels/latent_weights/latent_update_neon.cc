// Eight samples make two tables of 16 sums, looked up by tbl.
//
// T of four samples is at most 4 * 2^15 < 2^18: three digits of 6 bits, each with its own table of 16 bytes. Two items
// are four look-ups, which add up in a byte (4 * 63 < 256) and are then added to 16-bit lanes.
// A table: [digits][2][16 bytes], samples 0 to 3 first. Index bytes are in the order of the channels.
#include <arm_neon.h>

#include "kernels/latent_weights/latent_update_sixteens.h"

namespace bitreplay {
namespace {

constexpr int kVectors = 2;  // 32 channels at a time

struct Sums {
  uint16x8_t of[kDigits][2 * kVectors];

  void clear() {
    for (auto& digit : of)
      for (uint16x8_t& lanes : digit) lanes = vdupq_n_u16(0);
  }

  // N <= 2 items.
  template <int N>
  void add(const uint8_t* table, const uint8_t* index, int64_t lanes) {
    for (int v = 0; v < kVectors; ++v) {
      uint8x16_t places[2 * N];
      for (int n = 0; n < N; ++n) {
        const uint8x16_t bytes = vld1q_u8(index + n * lanes + 16 * v);
        places[2 * n] = vandq_u8(bytes, vdupq_n_u8(15));
        places[2 * n + 1] = vshrq_n_u8(bytes, 4);
      }
      for (int d = 0; d < kDigits; ++d) {
        uint8x16_t digits = vqtbl1q_u8(vld1q_u8(table + 32 * d), places[0]);
        for (int k = 1; k < 2 * N; ++k) {
          const uint8x16_t entries = vld1q_u8(table + (k / 2 * kDigits + d) * 32 + k % 2 * 16);
          digits = vaddq_u8(digits, vqtbl1q_u8(entries, places[k]));
        }
        of[d][2 * v] = vaddw_u8(of[d][2 * v], vget_low_u8(digits));
        of[d][2 * v + 1] = vaddw_high_u8(of[d][2 * v + 1], digits);
      }
    }
  }

  void flush(uint32_t minus, uint32_t* sums) const {
    for (int k = 0; k < 2 * kVectors; ++k) {
      uint32x4_t low = vdupq_n_u32(0), high = low;
      for (int d = kDigits - 1; d >= 0; --d) {
        low = vaddw_u16(vshlq_n_u32(low, kDigitBits), vget_low_u16(of[d][k]));
        high = vaddw_high_u16(vshlq_n_u32(high, kDigitBits), of[d][k]);
      }
      add_to(sums + 8 * k, low, minus);
      add_to(sums + 8 * k + 4, high, minus);
    }
  }

  static void add_to(uint32_t* sums, uint32x4_t part, uint32_t minus) {
    vst1q_u32(sums, vaddq_u32(vld1q_u32(sums), vsubq_u32(vshlq_n_u32(part, 1), vdupq_n_u32(minus))));
  }
};

// random_bits (counter.h) of four elements.
inline uint32x4_t hash(uint32x4_t elements, uint64_t key) {
  uint32x4_t x = vaddq_u32(vmulq_n_u32(elements, 0x9E3779B1u), vdupq_n_u32(uint32_t(key)));
  x = vmulq_n_u32(veorq_u32(x, vshrq_n_u32(x, 16)), 0x85EBCA6Bu);
  x = veorq_u32(veorq_u32(x, vshrq_n_u32(x, 13)), vdupq_n_u32(uint32_t(key >> 32)));
  x = vmulq_n_u32(x, 0xC2B2AE35u);
  return veorq_u32(x, vshrq_n_u32(x, 16));
}

// Sums become what the step takes away, for a shift of 32 or more: the upper half of floor(sum * mantissa / 2^k) +
// random, k = shift - 32.
void changes(const LatentUpdateArgs& a, const NarrowStep& step, uint32_t first, uint32_t* sums) {
  const int32_t mantissa = int32_t(step.mantissa);
  const int64x2_t down = vdupq_n_s64(-step.random_up);  // a shift to the right
  const uint32_t counting[4] = {0, 1, 2, 3};
  const auto part = [&](int64x2_t product, uint32x2_t random) {
    return vshrn_n_s64(vaddq_s64(vshlq_s64(product, down), vreinterpretq_s64_u64(vmovl_u32(random))), 32);
  };
  for (int64_t i = 0; i < a.channels; i += 4) {
    const uint32x4_t random = hash(vaddq_u32(vld1q_u32(counting), vdupq_n_u32(first + uint32_t(i))), a.step.key);
    const int32x4_t sum = vreinterpretq_s32_u32(vld1q_u32(sums + i));
    const int32x2_t low = part(vmull_n_s32(vget_low_s32(sum), mantissa), vget_low_u32(random));
    const int32x2_t high = part(vmull_n_s32(vget_high_s32(sum), mantissa), vget_high_u32(random));
    vst1q_u32(sums + i, vreinterpretq_u32_s32(vcombine_s32(low, high)));
  }
}

// The Scan of latent_rare.h.
struct ScanNeon {
  template <class Visit>
  static void find(uint32_t place, uint64_t key, uint32_t reach, int64_t count, Visit visit) {
    const uint32_t counting[4] = {0, kElementFactor, 2 * kElementFactor, 3 * kElementFactor};
    const uint32x4_t high = vdupq_n_u32(uint32_t(key >> 32)), next = vdupq_n_u32(4 * kElementFactor);
    const uint32x4_t add = vdupq_n_u32(reach), end = vdupq_n_u32(2 * reach);
    uint32x4_t at = vaddq_u32(vld1q_u32(counting), vdupq_n_u32(place));
    for (int64_t i = 0; i < count; i += 16) {
      uint16x4_t less[4];
      for (int k = 0; k < 4; ++k, at = vaddq_u32(at, next)) {
        uint32x4_t x = vmulq_n_u32(veorq_u32(at, vshrq_n_u32(at, 16)), 0x85EBCA6Bu);
        x = vmulq_n_u32(veorq_u32(veorq_u32(x, vshrq_n_u32(x, 13)), high), 0xC2B2AE35u);
        less[k] = vmovn_u32(vcltq_u32(vaddq_u32(veorq_u32(x, vshrq_n_u32(x, 16)), add), end));
      }
      // Four bits a weight.
      const uint16x8_t low = vcombine_u16(less[0], less[1]), up = vcombine_u16(less[2], less[3]);
      const uint8x16_t bytes = vcombine_u8(vmovn_u16(low), vmovn_u16(up));
      uint64_t nibbles = vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(bytes), 4)), 0);
      if (count - i < 16) nibbles &= (uint64_t(1) << (4 * (count - i))) - 1;
      for (nibbles &= 0x1111111111111111u; nibbles; nibbles &= nibbles - 1) visit(i + __builtin_ctzll(nibbles) / 4, 1);
    }
  }

  static constexpr int64_t kSumStart = 400, kSumChunk = 110;

  static uint16x8_t eight_bits() {
    const uint16_t places[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    return vld1q_u16(places);
  }

  static constexpr int64_t kMaxMasks = 0;
  static void add_signed(const SignedRow* rows, int64_t count, int64_t word, uint16_t start, uint16_t* to) {
    const uint16x8_t places = eight_bits();
    uint16x8_t sums[8];
    for (uint16x8_t& sum : sums) sum = vdupq_n_u16(start);
    for (const SignedRow* row = rows; row < rows + count; ++row) {
      const uint16x8_t g = vdupq_n_u16(uint16_t(row->g));
      uint64_t bits = row->x[word];
      for (int k = 0; k < 8; ++k, bits >>= 8)
        sums[k] = vaddq_u16(sums[k], vandq_u16(g, vtstq_u16(vdupq_n_u16(uint16_t(bits)), places)));
    }
    for (int k = 0; k < 8; ++k) vst1q_u16(to + 8 * k, sums[k]);
  }

  class Total {
   public:
    void add(const int16_t* g, uint32_t bits) {
      const uint16x8_t places = eight_bits();
      for (int k = 0; k < 4; ++k, g += 8, bits >>= 8) {
        const uint16x8_t set = vtstq_u16(vdupq_n_u16(uint16_t(bits & 255)), places);
        sums_ = vpadalq_s16(sums_, vandq_s16(vld1q_s16(g), vreinterpretq_s16_u16(set)));
      }
    }
    int32_t sum() const { return vaddvq_s32(sums_); }

   private:
    int32x4_t sums_ = vdupq_n_s32(0);
  };
};

struct NeonTables : PlainTables {
  using Scan = ScanNeon;
  using Sums = bitreplay::Sums;
  static constexpr auto changes = bitreplay::changes;

  static void step_bytes(int8_t* latent, int64_t count, const uint32_t* changes) {
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
      const int32_t* from = reinterpret_cast<const int32_t*>(changes + i);
      const int16x8_t change = vqmovn_high_s32(vqmovn_s32(vld1q_s32(from)), vld1q_s32(from + 4));
      vst1_s8(latent + i, vqmovn_s16(vqsubq_s16(vmovl_s8(vld1_s8(latent + i)), change)));
    }
    step_stored(latent + i, count - i, 127, [&](int64_t k) { return int32_t(changes[i + k]); });
  }
};

}  // namespace

extern const LatentUpdate kLatentUpdateNeon = {Sixteens<NeonTables>::scratch_bytes, Sixteens<NeonTables>::run};

}  // namespace bitreplay
