// Binary convolution by carry-save adders on prefixes, for the sets that count bits in bytes (NEON, WebAssembly).
//
// A window of N words a_i = x_i ^ w_i is a row. With D_i = a_1 ^ ... ^ a_i, three words D_i, a_(i+1), a_(i+2) have as
// many bits as D_(i+2) and twice their carries, and the majority of three bits is
//    carry = D_(i+1) ? ~D_(i+2) : D_i
// so that  popcount(a) = popcount(D_N) + 2 sum popcount(carry):  of two words' work, five operations (two xor, one
// selection, one count, one addition) where counting each word takes six. D_i is the prefix of the inputs ^ the prefix
// of the weights: the latter are made when weights are packed, the former once for all outputs.
//
// Every D of the chain is selected as it is once and complemented once. Weights of every second one are complemented,
// the last one's are not: steps give a carry, then a complemented one, in turn, and end with the latter. So
//    popcount(a) = popcount(D_N) + 2 (added - taken + 64 steps taken)
// Where N is even the chain begins with 0, or ~0 where the number of steps is odd.
//
// Inputs   [pixels / 4][N][4][2]: each word twice; a tap outside the map reads +1 (padding 1) or 0.
// Weights  [outputs / 4][N][4]; behind them, where taps outside add nothing, what each of them is to be corrected by:
//          [kernel * kernel][outputs].
// Long     rows, of more than kMostWords, are other kernels'.
#pragma once
#include "arithmetic/packing.h"
#include "arithmetic/sliding_window.h"
#include "kernels/binary_conv/binary_conv.h"

namespace bitreplay {
namespace {

#define INLINE __attribute__((always_inline))

constexpr int64_t kOutputs = 4, kPlaces = 4, kInputWords = 2 * kPlaces, kMostWords = 512;

struct Row {
  int64_t words, steps, groups;

  explicit Row(const BinaryConvArgs& a)
      : words(a.kernel * a.kernel * a.words), steps(words / 2), groups((a.outputs + kOutputs - 1) / kOutputs) {}
  bool fits() const { return words <= kMostWords; }
  // What sums are made of besides counts.
  int64_t constant(const BinaryConvArgs& a) const { return a.kernel * a.kernel * a.channels - 256 * ((steps + 1) / 2); }
};

bool corrects(const BinaryConvArgs& a) { return !a.padding && a.pad > 0; }

uint64_t prefixed_bytes(const BinaryConvArgs& a) {
  const Row row(a);
  return uint64_t(row.groups * kOutputs) * uint64_t(8 * row.words + (corrects(a) ? 2 * a.kernel * a.kernel : 0));
}

void pack_prefixes(const BinaryConvArgs& a, uint8_t* packed_weights) {
  const Row row(a);
  uint64_t* to = reinterpret_cast<uint64_t*>(packed_weights);
  int16_t* corrections = reinterpret_cast<int16_t*>(to + row.groups * kOutputs * row.words);
  for (int64_t o = 0; o < row.groups * kOutputs; ++o) {
    uint64_t* own = to + o / kOutputs * kOutputs * row.words + o % kOutputs;
    const uint64_t* w = o < a.outputs ? a.w + o * row.words : nullptr;
    uint64_t prefix = 0;
    for (int64_t left = row.words - 1; left >= 0; --left, own += kOutputs) {
      if (w) prefix ^= *w++;
      *own = left % 4 == 2 ? ~prefix : prefix;
    }
    if (!corrects(a)) continue;
    w = a.w + (o < a.outputs ? o : 0) * row.words;
    for (int64_t tap = 0; tap < a.kernel * a.kernel; ++tap) {
      int64_t ones = 0;
      for (int64_t i = 0; i < a.words; ++i) ones += __builtin_popcountll(*w++);
      corrections[tap * row.groups * kOutputs + o] = int16_t(2 * ones - a.channels);
    }
  }
}

// The rows of pixels, one after the other.
class Windows {
 public:
  explicit Windows(const BinaryConvArgs& a) : a_(a) { begin_row(); }

  // The prefixes of the next pixel's row, kInputWords apart; whether all its taps lie inside.
  INLINE bool put(uint64_t* to) {
    const int64_t left = column_ * a_.stride - a_.pad;
    const uint64_t* x = row_of_inputs_ + left * a_.words;
    const bool inside = rows_inside_ && left >= 0 && left <= last_left_;
    if (!inside) put_some(x, left, to);
    else if (a_.kernel == 3 && a_.words == 1) put_rows(x, 3, 3, to);
    else put_rows(x, a_.kernel, a_.kernel * a_.words, to);
    if (++column_ < a_.out_w) return inside;
    column_ = 0;
    ++row_;
    begin_row();
    return inside;
  }

 private:
  void begin_row() {
    top_ = row_ % a_.out_h * a_.stride - a_.pad;
    rows_inside_ = top_ >= 0 && top_ + a_.kernel <= a_.height;
    row_of_inputs_ = a_.x + (row_ / a_.out_h * a_.height + top_) * a_.width * a_.words;
  }
  INLINE void put_rows(const uint64_t* x, int64_t rows, int64_t words, uint64_t* to) const {
    uint64_t prefix = 0;
    for (int64_t row = 0; row < rows; ++row, x += a_.width * a_.words) {
#pragma GCC unroll 3
      for (int64_t i = 0; i < words; ++i, to += kInputWords) to[0] = to[1] = prefix ^= x[i];
    }
  }
  // Some taps lie outside.
  __attribute__((noinline)) void put_some(const uint64_t* x, int64_t left, uint64_t* to) const {
    uint64_t prefix = 0;
    for (int64_t tap = 0; tap < a_.kernel * a_.kernel; ++tap) {
      const int64_t row = tap / a_.kernel, column = tap % a_.kernel;
      const bool inside = top_ + row >= 0 && top_ + row < a_.height && left + column >= 0 && left + column < a_.width;
      const uint64_t* from = x + (row * a_.width + column) * a_.words;
      for (int64_t i = 0; i < a_.words; ++i, to += kInputWords) {
        const int64_t bits = a_.channels - i * kWord;
        const uint64_t ones = bits >= kWord ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
        to[0] = to[1] = prefix ^= inside ? from[i] : a_.padding ? ones : 0;
      }
    }
  }

  const BinaryConvArgs& a_;
  const int64_t last_left_ = a_.width - a_.kernel;
  int64_t row_ = 0, column_ = 0, top_ = 0;  // row of all samples
  bool rows_inside_ = false;
  const uint64_t* row_of_inputs_ = nullptr;
};

// Taps outside read 0, whose products are not -1 but nothing.
void correct(const BinaryConvArgs& a, const Row& row, int64_t pixel, const int16_t* corrections, int16_t* sums) {
  const int64_t out_row = pixel / a.out_w % a.out_h, out_column = pixel % a.out_w;
  const TapRange rows = taps_inside(out_row, a.stride, a.pad, a.kernel, a.height);
  const TapRange columns = taps_inside(out_column, a.stride, a.pad, a.kernel, a.width);
  for (int64_t tap = 0; tap < a.kernel * a.kernel; ++tap) {
    const int64_t r = tap / a.kernel, c = tap % a.kernel;
    if (rows.first <= r && r < rows.last && columns.first <= c && c < columns.last) continue;
    const int16_t* own = corrections + tap * row.groups * kOutputs;
    for (int64_t o = 0; o < a.outputs; ++o) sums[o] = int16_t(sums[o] + own[o]);
  }
}

// The sums of kOutputs outputs at `count` times kPlaces places, whose rows of sums lie `apart`.
using PrefixTiles = void(const uint64_t* x, const uint64_t* w, Row row, int64_t constant, int64_t count, int16_t* to,
                         int64_t apart);

void run_prefixes(const BinaryConvArgs& a, const Row& row, PrefixTiles* tiles) {
  const uint64_t* weights = reinterpret_cast<const uint64_t*>(a.w);
  const int16_t* corrections = reinterpret_cast<const int16_t*>(weights + row.groups * kOutputs * row.words);
  const int64_t pixels = a.samples * a.out_h * a.out_w, each = kMostWords / row.words * kPlaces;
  const int64_t constant = row.constant(a);
  alignas(64) uint64_t inputs[kMostWords * kInputWords];
  bool inside[kMostWords * kPlaces];
  Windows windows(a);
  for (int64_t first = 0; first < pixels; first += each) {
    const int64_t count = pixels - first < each ? pixels - first : each, whole = count / kPlaces;
    for (int64_t p = 0; p < count; ++p)
      inside[p] = windows.put(inputs + p / kPlaces * kInputWords * row.words + p % kPlaces * 2);
    for (int64_t group = 0; group < row.groups; ++group) {
      const uint64_t* w = weights + group * kOutputs * row.words;
      const int64_t outputs = a.outputs - group * kOutputs;
      int16_t* to = a.sums + first * a.outputs + group * kOutputs;
      const bool all = outputs >= kOutputs;
      if (all) tiles(inputs, w, row, constant, whole, to, a.outputs);
      for (int64_t p = all ? whole * kPlaces : 0; p < count; p += kPlaces) {
        int16_t some[kPlaces * kOutputs];
        tiles(inputs + p * 2 * row.words, w, row, constant, 1, some, kOutputs);
        for (int64_t place = 0; place < kPlaces && place < count - p; ++place)
          for (int64_t o = 0; o < kOutputs && o < outputs; ++o)
            to[(p + place) * a.outputs + o] = some[place * kOutputs + o];
      }
    }
    for (int64_t p = 0; corrects(a) && p < count; ++p)
      if (!inside[p]) correct(a, row, first + p, corrections, a.sums + (first + p) * a.outputs);
  }
}

}  // namespace
}  // namespace bitreplay
