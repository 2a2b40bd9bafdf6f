// Only the taps inside the map, in runs, with weights as interleave_outputs has them: for maps so small that many taps
// lie outside and add nothing, and for windows that are too long for binary_conv_neon.cc.
//
// Eight outputs as four vectors of two words, for up to four places of the map at a time: a vector of weights is read
// once for all of them. eor with the place's word, cnt, bytes added up before they overflow.
//
// Bound: 55 instructions for 64 times 8 times 4 products.
#include <arm_neon.h>

#include "arithmetic/sliding_window.h"
#include "kernels/binary_conv/binary_conv.h"

namespace bitreplay {
namespace {

// Inlined everywhere, so that counts stay in registers.
#define INLINE __attribute__((always_inline))

constexpr int64_t kMaxWords = 31;  // 31 * 8 < 256

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
    const int16x8_t dots = vsubq_s16(vdupq_n_s16(int16_t(total)), vreinterpretq_s16_u16(vshlq_n_u16(sums, 1)));
    if (outputs >= kInterleaved) return vst1q_s16(to, dots);
    int16_t all[kInterleaved];
    vst1q_s16(all, dots);
    for (int64_t lane = 0; lane < outputs; ++lane) to[lane] = all[lane];
  }
};

// Counts of kPlaces places, whose words lie `apart` words from one another. kFew: bytes hold all of them.
template <int kPlaces, bool kFew>
struct Counts {
  Place first, second, third, fourth;
  int64_t held = 0;

  INLINE void run(const uint64_t* x, int64_t apart, const uint64_t* w, int64_t length) {
    first.x = x, second.x = x + apart, third.x = x + 2 * apart, fourth.x = x + 3 * apart;
    if (kFew) return add_words(w, length);
    while (length > 0) {
      if (held == kMaxWords) sum_up();
      const int64_t next = length < kMaxWords - held ? length : kMaxWords - held;
      add_words(w, next);
      w += next * kInterleaved;
      held += next;
      length -= next;
    }
  }
  INLINE void add_words(const uint64_t* w, int64_t length) {
    for (const uint64_t* end = w + length * kInterleaved; w < end; w += kInterleaved) {
      const uint64x2x4_t weights = vld1q_u64_x4(w);
      first.add(weights);
      if (kPlaces > 1) second.add(weights);
      if (kPlaces > 2) third.add(weights);
      if (kPlaces > 2) fourth.add(weights);
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

struct Taps {
  TapRange rows, columns;

  Taps(const BinaryConvArgs& a, int64_t out_row, int64_t out_column)
      : rows(taps_inside(out_row, a.stride, a.pad, a.kernel, a.height)),
        columns(taps_inside(out_column, a.stride, a.pad, a.kernel, a.width)) {}
  int64_t in_a_row() const { return columns.last - columns.first; }
  int64_t count() const { return (rows.last - rows.first) * in_a_row(); }
  bool has(int64_t row, int64_t column) const {
    return rows.first <= row && row < rows.last && columns.first <= column && column < columns.last;
  }
};

// kPlaces places whose taps inside are the same; x is where the first one's first tap lies.
template <int kPlaces, bool kFew>
INLINE inline void together(const Block& block, const Taps& taps, const uint64_t* x, int64_t apart, int16_t* sums,
                            int64_t sums_apart) {
  const BinaryConvArgs& a = block.a;
  const int64_t length = taps.in_a_row() * a.words, row_words = a.kernel * a.words * kInterleaved;
  const uint64_t* w = block.w + taps.rows.first * row_words + taps.columns.first * a.words * kInterleaved;
  Counts<kPlaces, kFew> counts;
  for (int64_t row = taps.rows.first; row < taps.rows.last; ++row, x += a.width * a.words, w += row_words)
    counts.run(x, apart, w, length);
  const int64_t all = a.kernel * a.kernel;
  const bool padded = a.padding && taps.count() < all;
  if (padded)
    for (int64_t tap = 0; tap < all; ++tap)
      if (!taps.has(tap / a.kernel, tap % a.kernel))
        counts.run(block.ones, 0, block.w + tap * a.words * kInterleaved, a.words);
  counts.store((padded ? all : taps.count()) * a.channels, sums, sums_apart, block.outputs);
}

// Many words: in a function of its own, so that all registers are its.
template <int kPlaces>
__attribute__((noinline)) void many_together(const Block& block, const Taps& taps, const uint64_t* x, int64_t apart,
                                             int16_t* sums, int64_t sums_apart) {
  together<kPlaces, false>(block, taps, x, apart, sums, sums_apart);
}

// `count` places `apart` words from one another, with the taps of the first, which is (row, column) of the sample x.
template <bool kFew>
void places(const Block& block, const uint64_t* x, int64_t row, int64_t column, int64_t count, int64_t apart,
            int16_t* sums, int64_t sums_apart) {
  const BinaryConvArgs& a = block.a;
  const Taps taps(a, row, column);
  const int64_t y = row * a.stride + taps.rows.first - a.pad, left = column * a.stride + taps.columns.first - a.pad;
  x += (y * a.width + left) * a.words;
  for (; count >= 4; count -= 4, x += 4 * apart, sums += 4 * sums_apart)
    kFew ? together<4, true>(block, taps, x, apart, sums, sums_apart)
         : many_together<4>(block, taps, x, apart, sums, sums_apart);
  for (; count >= 2; count -= 2, x += 2 * apart, sums += 2 * sums_apart)
    kFew ? together<2, true>(block, taps, x, apart, sums, sums_apart)
         : many_together<2>(block, taps, x, apart, sums, sums_apart);
  if (count) kFew ? together<1, true>(block, taps, x, 0, sums, 0) : many_together<1>(block, taps, x, 0, sums, 0);
}

// The first `samples` samples, a multiple of four, at the same place.
template <bool kFew>
void samples_at(const Block& block, int64_t samples, int16_t* sums) {
  const BinaryConvArgs& a = block.a;
  const int64_t map_words = a.height * a.width * a.words, map_sums = a.out_h * a.out_w * a.outputs;
  for (int64_t row = 0; row < a.out_h; ++row)
    for (int64_t column = 0; column < a.out_w; ++column, sums += a.outputs)
      places<kFew>(block, a.x, row, column, samples, map_words, sums, map_sums);
}

// The places along one side of the map whose taps all lie inside.
TapRange inside(const BinaryConvArgs& a, int64_t outputs, int64_t length) {
  int64_t first = 0, last = outputs;
  while (first < last && first * a.stride < a.pad) ++first;
  while (last > first && (last - 1) * a.stride - a.pad + a.kernel > length) --last;
  return {first, last};
}

// One sample: places side by side whose columns of taps lie inside; at the map's sides, places below one another.
template <bool kFew>
void sample_at(const Block& block, int64_t sample, int16_t* sums) {
  const BinaryConvArgs& a = block.a;
  const uint64_t* x = a.x + sample * a.height * a.width * a.words;
  sums += sample * a.out_h * a.out_w * a.outputs;
  const TapRange columns = inside(a, a.out_w, a.width), rows = inside(a, a.out_h, a.height);
  const auto run = [&](int64_t row, int64_t column, int64_t count, int64_t apart, int64_t sums_apart) {
    places<kFew>(block, x, row, column, count, apart, sums + (row * a.out_w + column) * a.outputs, sums_apart);
  };
  if (columns.first < columns.last)
    for (int64_t row = 0; row < a.out_h; ++row)
      run(row, columns.first, columns.last - columns.first, a.stride * a.words, a.outputs);
  for (int64_t column = 0; column < a.out_w; ++column) {
    if (columns.first <= column && column < columns.last) continue;
    for (int64_t row = 0; row < rows.first; ++row) run(row, column, 1, 0, 0);
    if (rows.first < rows.last)
      run(rows.first, column, rows.last - rows.first, a.stride * a.width * a.words, a.out_w * a.outputs);
    for (int64_t row = rows.last; row < a.out_h; ++row) run(row, column, 1, 0, 0);
  }
}

template <bool kFew>
void run(const BinaryConvArgs& a) {
  const int64_t block_words = a.kernel * a.kernel * a.words * kInterleaved;
  const int64_t blocks = (a.outputs + kInterleaved - 1) / kInterleaved, fours = a.samples / 4 * 4;
  for (int64_t at = 0; at < blocks; ++at) {
    const Block block = {a, a.w + at * block_words, a.w + blocks * block_words, a.outputs - at * kInterleaved};
    int16_t* sums = a.sums + at * kInterleaved;
    if (fours) samples_at<kFew>(block, fours, sums);
    for (int64_t sample = fours; sample < a.samples; ++sample) sample_at<kFew>(block, sample, sums);
  }
}

}  // namespace

void binary_conv_runs_neon(const BinaryConvArgs& a) {
  if (a.kernel * a.kernel * a.words <= kMaxWords) return run<true>(a);
  run<false>(a);
}

}  // namespace bitreplay
