// Eight outputs as four vectors of two words, for up to four places of the map at a time: a vector of weights is read once
// for all of them. eor with the place's word, cnt, bytes added up before they overflow.
// The walk over pixels and taps is that of binary_conv_wasm.cc. Shared as a template it took NEON 7 % more instructions.
//
// Bound: 53 instructions for 64 times 8 times 4 products.
#include <arm_neon.h>

#include "kernels/binary_conv/binary_conv.h"
#include "arithmetic/sliding_window.h"

namespace bitreplay {
namespace {

// Inlined everywhere, so that counts stay in registers.
#define INLINE __attribute__((always_inline))

constexpr int64_t kMostWords = 31;  // 31 * 8 < 256

// Counts of eight outputs at one place: bytes, and 16 bits for what was in them before. Fields, not arrays, which
// compilers would keep in memory.
struct Place {
  uint8x16_t a = vdupq_n_u8(0), b = a, c = a, d = a;
  uint16x8_t sums = vdupq_n_u16(0);

  INLINE static uint8x16_t count(uint8x16_t bytes, uint64x2_t pixel, uint64x2_t weights) {
    return vaddq_u8(bytes, vcntq_u8(vreinterpretq_u8_u64(veorq_u64(pixel, weights))));
  }
  INLINE void add(const uint64_t* x, const uint64x2x4_t& w) {
    const uint64x2_t pixel = vld1q_dup_u64(x);
    a = count(a, pixel, w.val[0]);
    b = count(b, pixel, w.val[1]);
    c = count(c, pixel, w.val[2]);
    d = count(d, pixel, w.val[3]);
  }
  INLINE static uint32x4_t halves(uint8x16_t bytes) { return vpaddlq_u16(vpaddlq_u8(bytes)); }
  // Bytes of a word become a number of 16 bits: counts have 15.
  INLINE void sum_up() {
    const uint32x4_t front = vpaddq_u32(halves(a), halves(b)), back = vpaddq_u32(halves(c), halves(d));
    sums = vaddq_u16(sums, vcombine_u16(vmovn_u32(front), vmovn_u32(back)));
    a = b = c = d = vdupq_n_u8(0);
  }
  // total - 2 count of the outputs that there are.
  INLINE void store(int64_t total, int16_t* to, int64_t outputs) const {
    const int16x8_t found = vsubq_s16(vdupq_n_s16(int16_t(total)), vreinterpretq_s16_u16(vshlq_n_u16(sums, 1)));
    if (outputs >= kInterleaved) return vst1q_s16(to, found);
    int16_t all[kInterleaved];
    vst1q_s16(all, found);
    for (int64_t lane = 0; lane < outputs; ++lane) to[lane] = all[lane];
  }
};

// Counts of kPlaces places, whose words lie `apart` words from one another.
template <int kPlaces>
struct Counts {
  Place first, second, third, fourth;
  int64_t held = 0;

  INLINE void run(const uint64_t* x, int64_t apart, const uint64_t* w, int64_t length) {
    while (length > 0) {
      if (held == kMostWords) sum_up();
      const int64_t some = length < kMostWords - held ? length : kMostWords - held;
      for (const uint64_t* end = x + some; x < end; ++x, w += kInterleaved) {
        const uint64x2x4_t weights = vld1q_u64_x4(w);
        first.add(x, weights);
        if (kPlaces > 1) second.add(x + apart, weights);
        if (kPlaces > 2) third.add(x + 2 * apart, weights);
        if (kPlaces > 2) fourth.add(x + 3 * apart, weights);
      }
      held += some;
      length -= some;
    }
  }

  INLINE void sum_up() {
    first.sum_up();
    if (kPlaces > 1) second.sum_up();
    if (kPlaces > 2) third.sum_up();
    if (kPlaces > 2) fourth.sum_up();
    held = 0;
  }

  INLINE void store(int64_t total, int16_t* to, int64_t apart, int64_t outputs) {
    sum_up();
    first.store(total, to, outputs);
    if (kPlaces > 1) second.store(total, to + apart, outputs);
    if (kPlaces > 2) third.store(total, to + 2 * apart, outputs);
    if (kPlaces > 2) fourth.store(total, to + 3 * apart, outputs);
  }
};

// What does not change from place to place.
struct Block {
  const BinaryConvArgs& a;
  const uint64_t *w, *ones;
  int64_t outputs;
};

// kPlaces places whose taps inside are the same; x is the first one's sample.
template <int kPlaces>
void place(const Block& block, const uint64_t* x, int64_t apart, int64_t out_row, int64_t out_column, int16_t* sums,
           int64_t sums_apart) {
  const BinaryConvArgs& a = block.a;
  const TapRange rows = taps_inside(out_row, a.stride, a.pad, a.kernel, a.height);
  const TapRange columns = taps_inside(out_column, a.stride, a.pad, a.kernel, a.width);
  const int64_t side_by_side = columns.last - columns.first, left = out_column * a.stride + columns.first - a.pad;
  Counts<kPlaces> counts;
  for (int64_t row = rows.first; row < rows.last; ++row) {
    const int64_t y = out_row * a.stride + row - a.pad;
    counts.run(x + (y * a.width + left) * a.words, apart,
               block.w + (row * a.kernel + columns.first) * a.words * kInterleaved, side_by_side * a.words);
  }
  int64_t taps = (rows.last - rows.first) * side_by_side;
  if (a.padding && taps < a.kernel * a.kernel) {
    for (int64_t tap = 0; tap < a.kernel * a.kernel; ++tap) {
      const int64_t r = tap / a.kernel, c = tap % a.kernel;
      if (rows.first <= r && r < rows.last && columns.first <= c && c < columns.last) continue;
      counts.run(block.ones, 0, block.w + tap * a.words * kInterleaved, a.words);
    }
    taps = a.kernel * a.kernel;
  }
  counts.store(taps * a.channels, sums, sums_apart, block.outputs);
}

// kSamples samples at the same place.
template <int kSamples>
void samples_at(const Block& block, int64_t sample, int16_t* sums) {
  const BinaryConvArgs& a = block.a;
  const int64_t map_words = a.height * a.width * a.words, map_sums = a.out_h * a.out_w * a.outputs;
  sums += sample * map_sums;
  for (int64_t row = 0; row < a.out_h; ++row)
    for (int64_t column = 0; column < a.out_w; ++column, sums += a.outputs)
      place<kSamples>(block, a.x + sample * map_words, map_words, row, column, sums, map_sums);
}

// One sample: places side by side whose columns of taps lie inside.
void sample_at(const Block& block, int64_t sample, int16_t* sums) {
  const BinaryConvArgs& a = block.a;
  const uint64_t* x = a.x + sample * a.height * a.width * a.words;
  const int64_t apart = a.stride * a.words;
  sums += sample * a.out_h * a.out_w * a.outputs;
  const auto inside = [&](int64_t column) {
    return column < a.out_w && column * a.stride >= a.pad && column * a.stride - a.pad + a.kernel <= a.width;
  };
  for (int64_t row = 0; row < a.out_h; ++row) {
    for (int64_t column = 0; column < a.out_w;) {
      if (inside(column) && inside(column + 3)) {
        place<4>(block, x, apart, row, column, sums, a.outputs);
        column += 4, sums += 4 * a.outputs;
      } else if (inside(column) && inside(column + 1)) {
        place<2>(block, x, apart, row, column, sums, a.outputs);
        column += 2, sums += 2 * a.outputs;
      } else {
        place<1>(block, x, 0, row, column, sums, 0);
        ++column, sums += a.outputs;
      }
    }
  }
}

}  // namespace

void binary_conv_neon(const BinaryConvArgs& a) {
  const int64_t block_words = a.kernel * a.kernel * a.words * kInterleaved;
  const int64_t blocks = (a.outputs + kInterleaved - 1) / kInterleaved;
  for (int64_t at = 0; at < blocks; ++at) {
    const Block block = {a, a.w + at * block_words, a.w + blocks * block_words, a.outputs - at * kInterleaved};
    int16_t* sums = a.sums + at * kInterleaved;
    int64_t sample = 0;
    for (; sample + 4 <= a.samples; sample += 4) samples_at<4>(block, sample, sums);
    for (; sample < a.samples; ++sample) sample_at(block, sample, sums);
  }
}

}  // namespace bitreplay
