// Eight outputs as four vectors of two words, for up to four places of the map at a time: a vector of weights is read once
// for all of them. eor with the place's word, cnt, bytes added up before they overflow.
// The walk over pixels and taps is that of binary_conv_wasm.cc. Shared as a template it took NEON 7 % more instructions.
//
// Bound: 55 instructions for 64 times 8 times 4 products.
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
  const uint64_t* x = nullptr;

  INLINE static uint8x16_t count(uint8x16_t bytes, uint64x2_t pixel, uint64x2_t weights) {
    return vaddq_u8(bytes, vcntq_u8(vreinterpretq_u8_u64(veorq_u64(pixel, weights))));
  }
  INLINE void add(const uint64x2x4_t& w) {
    // A pointer of its own, and the places one after the other: compilers would mix them and run out of registers.
    asm volatile("" : "+r"(x));
    const uint64x2_t pixel = vld1q_dup_u64(x++);
    a = count(a, pixel, w.val[0]);
    b = count(b, pixel, w.val[1]);
    c = count(c, pixel, w.val[2]);
    d = count(d, pixel, w.val[3]);
    asm volatile("" : "+w"(d));
  }
  // Bytes of a word become a number of 16 bits: counts have 15.
  INLINE void sum_up() {
    const uint16x8_t front = vpaddq_u16(vpaddlq_u8(a), vpaddlq_u8(b)), back = vpaddq_u16(vpaddlq_u8(c), vpaddlq_u8(d));
    sums = vaddq_u16(sums, vpaddq_u16(front, back));
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
    first.x = x, second.x = x + apart, third.x = x + 2 * apart, fourth.x = x + 3 * apart;
    while (length > 0) {
      if (held == kMostWords) sum_up();
      const int64_t some = length < kMostWords - held ? length : kMostWords - held;
      for (const uint64_t* end = w + some * kInterleaved; w < end; w += kInterleaved) {
        const uint64x2x4_t weights = vld1q_u64_x4(w);
        first.add(weights);
        if (kPlaces > 1) second.add(weights);
        if (kPlaces > 2) third.add(weights);
        if (kPlaces > 2) fourth.add(weights);
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

// Whether all taps of a place lie inside the map along one side of it.
bool inside(const BinaryConvArgs& a, int64_t at, int64_t outputs, int64_t length) {
  return at < outputs && at * a.stride >= a.pad && at * a.stride - a.pad + a.kernel <= length;
}

// Calls places(first, count) for all of a line of `outputs` places on a side of `length` pixels, four or two together
// where their taps lie inside.
template <class Places>
void over_line(const BinaryConvArgs& a, int64_t outputs, int64_t length, Places places) {
  for (int64_t at = 0; at < outputs;) {
    const bool one = inside(a, at, outputs, length);
    const int64_t some = one && inside(a, at + 3, outputs, length) ? 4 : one && inside(a, at + 1, outputs, length) ? 2 : 1;
    places(at, some);
    at += some;
  }
}

// One sample: places side by side whose columns of taps lie inside; at the map's sides, places below one another.
void sample_at(const Block& block, int64_t sample, int16_t* sums) {
  const BinaryConvArgs& a = block.a;
  const uint64_t* x = a.x + sample * a.height * a.width * a.words;
  sums += sample * a.out_h * a.out_w * a.outputs;
  const auto together = [&](int64_t some, int64_t row, int64_t column, int64_t apart, int64_t sums_apart) {
    int16_t* to = sums + (row * a.out_w + column) * a.outputs;
    if (some == 4) place<4>(block, x, apart, row, column, to, sums_apart);
    else if (some == 2) place<2>(block, x, apart, row, column, to, sums_apart);
    else place<1>(block, x, 0, row, column, to, 0);
  };
  for (int64_t row = 0; row < a.out_h; ++row)
    over_line(a, a.out_w, a.width, [&](int64_t column, int64_t some) {
      if (inside(a, column, a.out_w, a.width)) together(some, row, column, a.stride * a.words, a.outputs);
    });
  for (int64_t column = 0; column < a.out_w; ++column)
    if (!inside(a, column, a.out_w, a.width))
      over_line(a, a.out_h, a.height, [&](int64_t row, int64_t some) {
        together(some, row, column, a.stride * a.width * a.words, a.out_w * a.outputs);
      });
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
