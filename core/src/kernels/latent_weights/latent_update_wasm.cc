// Eight samples make two tables of 16 sums, looked up by i8x16.swizzle.
//
// T of four samples is at most 4 * 2^15 < 2^18: three digits of 6 bits, each with its own table of 16 bytes. Two items
// are four look-ups, which add up in a byte (4 * 63 < 256) and are then added to 16-bit lanes.
// A table: [digits][2][16 bytes], samples 0 to 3 first. Index bytes are in the order of the channels.
#include <wasm_simd128.h>

#include "kernels/latent_weights/latent_update_sixteens.h"

namespace bitreplay {
namespace {

constexpr int kVectors = 2;  // 32 channels at a time

struct Sums {
  v128_t of[kDigits][2 * kVectors];

  void clear() {
    for (auto& digit : of)
      for (v128_t& lanes : digit) lanes = wasm_i16x8_const_splat(0);
  }

  // N <= 2 items.
  template <int N>
  void add(const uint8_t* table, const uint8_t* index, int64_t lanes) {
    const v128_t low = wasm_i8x16_const_splat(15);
    for (int v = 0; v < kVectors; ++v) {
      v128_t places[2 * N];
      for (int n = 0; n < N; ++n) {
        const v128_t bytes = wasm_v128_load(index + n * lanes + 16 * v);
        places[2 * n] = wasm_v128_and(bytes, low);
        places[2 * n + 1] = wasm_v128_and(wasm_u16x8_shr(bytes, 4), low);
      }
      for (int d = 0; d < kDigits; ++d) {
        v128_t digits = wasm_i8x16_swizzle(wasm_v128_load(table + 32 * d), places[0]);
        for (int k = 1; k < 2 * N; ++k) {
          const v128_t entries = wasm_v128_load(table + (k / 2 * kDigits + d) * 32 + k % 2 * 16);
          digits = wasm_i8x16_add(digits, wasm_i8x16_swizzle(entries, places[k]));
        }
        of[d][2 * v] = wasm_i16x8_add(of[d][2 * v], wasm_u16x8_extend_low_u8x16(digits));
        of[d][2 * v + 1] = wasm_i16x8_add(of[d][2 * v + 1], wasm_u16x8_extend_high_u8x16(digits));
      }
    }
  }

  void flush(uint32_t minus, uint32_t* sums) const {
    for (int k = 0; k < 2 * kVectors; ++k) {
      v128_t low = wasm_i32x4_const_splat(0), high = low;
      for (int d = kDigits - 1; d >= 0; --d) {
        low = wasm_i32x4_add(wasm_i32x4_shl(low, kDigitBits), wasm_u32x4_extend_low_u16x8(of[d][k]));
        high = wasm_i32x4_add(wasm_i32x4_shl(high, kDigitBits), wasm_u32x4_extend_high_u16x8(of[d][k]));
      }
      add_to(sums + 8 * k, low, minus);
      add_to(sums + 8 * k + 4, high, minus);
    }
  }

  static void add_to(uint32_t* sums, v128_t part, uint32_t minus) {
    const v128_t change = wasm_i32x4_sub(wasm_i32x4_add(part, part), wasm_i32x4_splat(int32_t(minus)));
    wasm_v128_store(sums, wasm_i32x4_add(wasm_v128_load(sums), change));
  }
};

// random_bits (counter.h) of four elements.
inline v128_t hash(v128_t elements, uint64_t key) {
  const auto mixed = [](v128_t x, int places) { return wasm_v128_xor(x, wasm_u32x4_shr(x, uint32_t(places))); };
  v128_t x = wasm_i32x4_add(wasm_i32x4_mul(elements, wasm_i32x4_splat(int32_t(0x9E3779B1u))),
                            wasm_i32x4_splat(int32_t(uint32_t(key))));
  x = wasm_i32x4_mul(mixed(x, 16), wasm_i32x4_splat(int32_t(0x85EBCA6Bu)));
  x = wasm_v128_xor(mixed(x, 13), wasm_i32x4_splat(int32_t(uint32_t(key >> 32))));
  return mixed(wasm_i32x4_mul(x, wasm_i32x4_splat(int32_t(0xC2B2AE35u))), 16);
}

// Sums become what the step takes away, for a shift of 32 or more: the upper half of floor(sum * mantissa / 2^k) +
// random, k = shift - 32.
void changes(const LatentUpdateArgs& a, const NarrowStep& step, uint32_t first, uint32_t* sums) {
  const v128_t mantissa = wasm_i32x4_splat(int32_t(step.mantissa));
  const uint32_t down = uint32_t(step.random_up);
  for (int64_t i = 0; i < a.channels; i += 4) {
    const v128_t elements =
        wasm_i32x4_add(wasm_i32x4_const(0, 1, 2, 3), wasm_i32x4_splat(int32_t(first + uint32_t(i))));
    const v128_t random = hash(elements, a.step.key), sum = wasm_v128_load(sums + i);
    const v128_t low = wasm_i64x2_add(wasm_i64x2_shr(wasm_i64x2_extmul_low_i32x4(sum, mantissa), down),
                                      wasm_u64x2_extend_low_u32x4(random));
    const v128_t high = wasm_i64x2_add(wasm_i64x2_shr(wasm_i64x2_extmul_high_i32x4(sum, mantissa), down),
                                       wasm_u64x2_extend_high_u32x4(random));
    wasm_v128_store(sums + i, wasm_i32x4_shuffle(low, high, 1, 3, 5, 7));
  }
}

// The Scan of latent_rare.h.
struct ScanWasm {
  template <class Visit>
  static void find(uint32_t place, uint64_t key, uint32_t reach, int64_t count, Visit visit) {
    const v128_t high = wasm_i32x4_splat(int32_t(uint32_t(key >> 32))), add = wasm_i32x4_splat(int32_t(reach));
    const v128_t next = wasm_i32x4_splat(int32_t(4 * kElementFactor)), end = wasm_i32x4_splat(int32_t(2 * reach));
    const v128_t first = wasm_i32x4_splat(int32_t(0x85EBCA6Bu)), second = wasm_i32x4_splat(int32_t(0xC2B2AE35u));
    v128_t at = wasm_i32x4_add(wasm_i32x4_mul(wasm_i32x4_const(0, 1, 2, 3), wasm_i32x4_splat(int32_t(kElementFactor))),
                               wasm_i32x4_splat(int32_t(place)));
    for (int64_t i = 0; i < count; i += 16) {
      v128_t less[4];
      for (int k = 0; k < 4; ++k, at = wasm_i32x4_add(at, next)) {
        v128_t x = wasm_i32x4_mul(wasm_v128_xor(at, wasm_u32x4_shr(at, 16)), first);
        x = wasm_i32x4_mul(wasm_v128_xor(wasm_v128_xor(x, high), wasm_u32x4_shr(x, 13)), second);
        less[k] = wasm_u32x4_lt(wasm_i32x4_add(wasm_v128_xor(x, wasm_u32x4_shr(x, 16)), add), end);
      }
      uint64_t mask = wasm_i8x16_bitmask(wasm_i8x16_narrow_i16x8(wasm_i16x8_narrow_i32x4(less[0], less[1]),
                                                                 wasm_i16x8_narrow_i32x4(less[2], less[3])));
      if (count - i < 16) mask &= (uint64_t(1) << (count - i)) - 1;
      if (mask) visit(i, mask);
    }
  }

  static constexpr int64_t kSumStart = 400, kSumChunk = 110;

  // Lane i: all bits where bit i of `bits` is set.
  static v128_t eight_bits(uint32_t bits) {
    const v128_t places = wasm_i16x8_const(1, 2, 4, 8, 16, 32, 64, 128);
    return wasm_i16x8_eq(wasm_v128_and(wasm_i16x8_splat(int16_t(bits & 255)), places), places);
  }

  static constexpr int64_t kMaxMasks = 0;
  static void add_signed(const SignedRow* rows, int64_t count, int64_t word, uint16_t start, uint16_t* to) {
    v128_t sums[8];
    for (v128_t& sum : sums) sum = wasm_i16x8_splat(int16_t(start));
    for (const SignedRow* row = rows; row < rows + count; ++row) {
      const v128_t g = wasm_i16x8_splat(row->g);
      uint64_t bits = row->x[word];
      for (int k = 0; k < 8; ++k, bits >>= 8)
        sums[k] = wasm_i16x8_add(sums[k], wasm_v128_and(g, eight_bits(uint32_t(bits))));
    }
    for (int k = 0; k < 8; ++k) wasm_v128_store(to + 8 * k, sums[k]);
  }

  class Total {
   public:
    void add(const int16_t* g, uint32_t bits) {
      for (int k = 0; k < 4; ++k, g += 8, bits >>= 8)
        sums_ =
            wasm_i32x4_add(sums_, wasm_i32x4_extadd_pairwise_i16x8(wasm_v128_and(wasm_v128_load(g), eight_bits(bits))));
    }
    int32_t sum() const {
      return wasm_i32x4_extract_lane(sums_, 0) + wasm_i32x4_extract_lane(sums_, 1) + wasm_i32x4_extract_lane(sums_, 2) +
             wasm_i32x4_extract_lane(sums_, 3);
    }

   private:
    v128_t sums_ = wasm_i32x4_const_splat(0);
  };
};

struct WasmTables : PlainTables {
  using Scan = ScanWasm;
  using Sums = bitreplay::Sums;
  static constexpr auto changes = bitreplay::changes;

  static void step_bytes(int8_t* latent, int64_t count, const uint32_t* changes) {
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
      const v128_t change = wasm_i16x8_narrow_i32x4(wasm_v128_load(changes + i), wasm_v128_load(changes + i + 4));
      const v128_t moved = wasm_i16x8_sub_sat(wasm_i16x8_load8x8(latent + i), change);
      wasm_v128_store64_lane(latent + i, wasm_i8x16_narrow_i16x8(moved, moved), 0);
    }
    step_stored(latent + i, count - i, 127, [&](int64_t k) { return int32_t(changes[i + k]); });
  }
};

}  // namespace

extern const LatentUpdate kLatentUpdateWasm = {Sixteens<WasmTables>::scratch_bytes, Sixteens<WasmTables>::run};

}  // namespace bitreplay
