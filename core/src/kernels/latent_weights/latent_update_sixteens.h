// What the paths share whose tables have 16 entries: eight samples make two tables, and 32 channels are added at a
// time.
//
// Tables has arrange and build (latent_update_loops.h), and besides
//    Sums                                32 sums: clear(), add<N>(table, index, lanes) for N <= 2 items,
//                                        flush(minus, sums)
//    changes(a, step, first, sums)       sums become what the step takes away, where its shift is 32 or more
//    step_bytes(latent, count, changes)  latent = saturate(latent - change): a change beyond 16 bits ends where
//                                        16 bits do
//    Scan                                latent_rare.h
#pragma once
#include "kernels/latent_weights/latent_rare.h"

namespace bitreplay {
namespace {

constexpr int kDigits = 3, kDigitBits = 6;

// arrange and build where vectors do them no faster.
struct PlainTables {
  static void arrange(const uint64_t* const* x, int64_t words, uint8_t* index) {
    for (int64_t at = 0; at < 8 * words; ++at, index += 8) {
      uint64_t square = 0;
      for (int64_t j = 0; j < 8; ++j) square |= x[j] ? ((x[j][at / 8] >> (at % 8 * 8)) & 255) << (8 * j) : 0;
      square = transpose8(square);
      __builtin_memcpy(index, &square, 8);
    }
  }

  static void build(const int16_t* g, uint8_t* table) {
    for (int n = 0; n < 2; ++n, g += 4, table += 16) {
      int32_t sums[16] = {};
      for (int j = 0; j < 4; ++j)
        if (g[j] < 0) sums[0] -= g[j];
      for (int j = 0; j < 4; ++j)
        for (int m = 0; m < 1 << j; ++m) sums[(1 << j) + m] = sums[m] + g[j];
      for (int d = 0; d < kDigits; ++d)
        for (int m = 0; m < 16; ++m) table[32 * d + m] = uint8_t((sums[m] >> (kDigitBits * d)) & 63);
    }
  }
};

template <class Tables>
struct Sixteens : Tables {
  using Sum = uint32_t;
  using Gradient = int16_t;
  static constexpr int64_t kGroup = 8, kTableBytes = kDigits * 32, kItems = 128, kWords = 2;

  // At most 256 pairs of items: 256 * 252 fits 16 bits.
  [[gnu::noinline]] static void add_part(const LatentRuns<Sum>& runs, int64_t block, uint32_t* sums) {
    const int64_t lanes = runs.lanes;
    typename Tables::Sums total;
    total.clear();
    runs.each(block, [&](const uint8_t* table, const uint8_t* index) {
      int64_t left = runs.length;
      for (; left >= 2; left -= 2, table += 2 * kTableBytes, index += 2 * lanes)
        total.template add<2>(table, index, lanes);
      if (left) total.template add<1>(table, index, lanes);
    });
    total.flush(runs.minus, sums);
  }

  static void add_up(const LatentRuns<Sum>& runs, int64_t block, int64_t words, uint32_t* sums) {
    runs.in_parts(2 * 256, 2, kTableBytes, [&](const LatentRuns<Sum>& part) {
      for (int64_t at = 0; at < words * kWord; at += 32) add_part(part, block + at, sums + at);
    });
  }

  static void step(const LatentUpdateArgs& a, int64_t row, uint32_t* sums) {
    const NarrowStep narrow = narrow_step(a);
    if (!narrow.serves || narrow.shift < 32) return step_row(a, row, sums);
    Tables::changes(a, narrow, uint32_t(row * a.channels), sums);
    if (a.bits == 8) return Tables::step_bytes(static_cast<int8_t*>(a.latent) + row * a.channels, a.channels, sums);
    step_bits(a, row, [&](int64_t i) { return int32_t(sums[i]); });
  }

  static uint64_t scratch_bytes(const LatentUpdateArgs& a) {
    const int64_t own = int64_t(rare_scratch_bytes<typename Tables::Scan, Sixteens>(a));
    return uint64_t(max_of(own, sums_are_narrow(a) ? 0 : int64_t(kLatentUpdateScalar.scratch_bytes(a))));
  }

  static void run(const LatentUpdateArgs& a) {
    if (!sums_are_narrow(a)) return kLatentUpdateScalar.run(a);
    run_rare<typename Tables::Scan, Sixteens>(a);
  }
};

}  // namespace
}  // namespace bitreplay
