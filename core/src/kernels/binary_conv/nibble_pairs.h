// Binary convolution by tables of 16 bytes (pshufb): all but the instructions of a set.
//
// Entry w of a table counts the bits in which four channels of a pixel differ from the weight nibble w, in its low
// nibble, and those of another pixel in its high one: a look-up serves four channels of two pixels, and as many outputs
// as a vector has bytes. Eight places of the output share the weights that were cut into nibbles: neighbours in a row,
// whose windows share pixels and so tables, or, where rows are short or strides wide, any places, the same one of
// several samples first. Taps outside the map for all of them are left out.
//
// Derived: [outputs / kOutputs][kernel * kernel][channels / 8][kOutputs bytes]: for each output a byte of eight
// channels. Windows of more nibbles than there is room for are the scalar kernel's.
#pragma once
#include "kernels/binary_conv/outside_taps.h"

namespace bitreplay {

constexpr int64_t kMaxPairs = 4, kPairNibbles = 2304, kMaxNibbles = kMaxPairs * kPairNibbles;
constexpr int64_t kNibbleSlack = 16;  // that are written behind the last
constexpr int kOutside = 16, kNibbleValues = 17;

struct PairTables {
  alignas(64) uint8_t at[kNibbleValues * kNibbleValues][16];
};

// Of nibble `a` of one pixel and `b` of another. Outside the map nothing is counted.
static constexpr PairTables make_pair_tables() {
  PairTables tables = {};
  for (int a = 0; a < kNibbleValues; ++a)
    for (int b = 0; b < kNibbleValues; ++b)
      for (int w = 0; w < 16; ++w)
        tables.at[kNibbleValues * b + a][w] = uint8_t((a == kOutside ? 0 : __builtin_popcount(unsigned(a ^ w))) +
                                                      (b == kOutside ? 0 : 16 * __builtin_popcount(unsigned(b ^ w))));
  return tables;
}
static constexpr PairTables kPairTables = make_pair_tables();

// An index is in units of eight bytes, the largest that an address takes as a factor: twice the table's number.
static inline const uint8_t* pair_table(uint16_t index) { return kPairTables.at[0] + 8 * size_t(index); }

// Bytes of channels whose nibbles, at most 4 each, add up in a byte; where more are left, a multiple of three.
static inline int64_t bytes_together(int64_t left) { return left > 31 ? 30 : left; }

static inline int64_t pair_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t pair_max(int64_t a, int64_t b) { return a > b ? a : b; }

// A place of the output.
struct PairPlace {
  const uint64_t* x;  // of its sample; null: there is no such place
  int16_t* sums;
  int64_t row, column;  // of the window's first tap
  TapRange rows, columns;

  bool inside(int64_t r, int64_t c) const {
    return x && rows.first <= r && r < rows.last && columns.first <= c && c < columns.last;
  }
  int64_t taps() const { return (rows.last - rows.first) * (columns.last - columns.first); }
};

// Set::kOutputs; Set::index(first, second, words, to): the tables' indices of two pixels, either of which may be null;
// Set::Counts<kPairs>: add(index, pitch, w, bytes) counts what bytes_together allows, pair p's indices p * pitch
// further; store(pair, half, total, added, to, outputs) writes total - 2 count [+ added] of one place.
template <class Set>
class PairConvolution {
 public:
  explicit PairConvolution(const BinaryConvArgs& a) : a_(a), tap_bytes_((a.channels + 7) / 8) {
    for (int64_t at = 0; a.padding && at < a.words; ++at) {
      const int64_t bits = a.channels - 64 * at;
      ones_[at] = bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
    }
  }

  static int64_t window_bytes(const BinaryConvArgs& a) { return a.kernel * a.kernel * ((a.channels + 7) / 8); }
  static int64_t weight_bytes(const BinaryConvArgs& a) {
    return (a.outputs + Set::kOutputs - 1) / Set::kOutputs * Set::kOutputs * window_bytes(a);
  }
  static bool serves(const BinaryConvArgs& a) { return 2 * window_bytes(a) <= kMaxNibbles; }

  void run() {
    if (a_.stride == 1 && a_.out_w > kMaxPairs && row_nibbles(kMaxPairs) * a_.kernel <= kMaxNibbles) return run_rows();
    for (int64_t left = a_.samples * a_.out_h * a_.out_w, count; left > 0; left -= count) {
      count = pair_min(places_together(), left);
      for (int64_t k = 0; k < 2 * kMaxPairs; ++k) places_[k] = k < count ? next_place() : PairPlace{};
      choose_taps(count);
      gather((count + 1) / 2);
      const bool whole = columns_.first == 0 && columns_.last == a_.kernel;
      const int64_t columns = pair_max(columns_.last - columns_.first, 0), rows = pair_max(rows_.last - rows_.first, 0);
      count_all(count, {kPairNibbles, whole ? 1 : rows, (whole ? rows : 1) * columns * tap_bytes_, 0});
    }
  }

 private:
  // Indices of a pair are `pitch` behind those of the one before. `runs` of `bytes` of weights side by side: one a row
  // of taps, `apart` indices from the next (0: they follow one another), or one for all rows.
  struct Layout {
    int64_t pitch, runs, bytes, apart;
  };

  // Narrow maps of one sample go by rows that need the same taps.
  int64_t places_together() const {
    if (2 * window_bytes(a_) > kPairNibbles) return 2;
    if (a_.samples > 1 || a_.out_w > kMaxPairs) return 2 * kMaxPairs;
    int64_t rows = 1;
    const TapRange own = taps_inside(row_, a_.stride, a_.pad, a_.kernel, a_.height);
    for (; row_ + rows < a_.out_h && (rows + 1) * a_.out_w <= 2 * kMaxPairs; ++rows) {
      const TapRange next = taps_inside(row_ + rows, a_.stride, a_.pad, a_.kernel, a_.height);
      if (next.first != own.first || next.last != own.last) break;
    }
    return rows * a_.out_w;
  }

  // Of the pixels that the windows of `pairs` neighbours meet in one row.
  int64_t row_nibbles(int64_t pairs) const { return (pairs + a_.kernel - 1) * 2 * tap_bytes_; }

  // Neighbours in a row: place k is paired with place k + pairs, so that the pair of pixels under a tap is the one that
  // the next pair of places has under the tap before.
  void run_rows() {
    for (sample_ = 0; sample_ < a_.samples; ++sample_) {
      for (row_ = 0; row_ < a_.out_h; ++row_) {
        for (column_ = 0; column_ < a_.out_w;) {
          const int64_t count = pair_min(2 * kMaxPairs, a_.out_w - column_), pairs = (count + 1) / 2;
          const int64_t column = column_ - a_.pad;
          places_[0] = place();
          for (int64_t k = 1; k < count; ++k) {
            ++column_;
            places_[k] = places_[0];
            places_[k].sums += k * a_.outputs;
            places_[k].columns = taps_inside(column_, 1, a_.pad, a_.kernel, a_.width);
          }
          ++column_;
          rows_ = places_[0].rows;
          columns_ = {0, a_.kernel};
          uint16_t* to = index_;
          for (int64_t r = rows_.first; r < rows_.last; ++r)
            for (int64_t c = column; c < column + pairs + a_.kernel - 1; ++c, to += 2 * tap_bytes_)
              Set::index(pixel_at(places_[0].row + r, c), pixel_at(places_[0].row + r, c + pairs), a_.words, to);
          count_all(count, {2 * tap_bytes_, rows_.last - rows_.first, a_.kernel * tap_bytes_, row_nibbles(pairs)});
        }
      }
    }
  }

  const uint64_t* pixel_at(int64_t row, int64_t column) const {
    if (row < 0 || row >= a_.height || column < 0 || column >= a_.width) return a_.padding ? ones_ : nullptr;
    return a_.x + ((sample_ * a_.height + row) * a_.width + column) * a_.words;
  }

  // Sample by sample, then along the rows.
  PairPlace place() const {
    return {a_.x + sample_ * a_.height * a_.width * a_.words,
            a_.sums + ((sample_ * a_.out_h + row_) * a_.out_w + column_) * a_.outputs,
            row_ * a_.stride - a_.pad,
            column_ * a_.stride - a_.pad,
            taps_inside(row_, a_.stride, a_.pad, a_.kernel, a_.height),
            taps_inside(column_, a_.stride, a_.pad, a_.kernel, a_.width)};
  }
  PairPlace next_place() {
    const PairPlace current = place();
    if (++sample_ < a_.samples) return current;
    sample_ = 0;
    if (++column_ < a_.out_w) return current;
    column_ = 0;
    ++row_;
    return current;
  }

  // Those that are inside for some place; all of them where +1 is read outside.
  void choose_taps(int64_t count) {
    rows_ = columns_ = {0, a_.kernel};
    if (a_.padding) return;
    rows_ = columns_ = {a_.kernel, 0};
    for (int64_t k = 0; k < count; ++k) {
      const TapRange rows = places_[k].rows, columns = places_[k].columns;
      rows_ = {pair_min(rows_.first, rows.first), pair_max(rows_.last, rows.last)};
      columns_ = {pair_min(columns_.first, columns.first), pair_max(columns_.last, columns.last)};
    }
  }

  const uint64_t* pixel(const PairPlace& place, int64_t r, int64_t c) const {
    if (!place.inside(r, c)) return a_.padding ? ones_ : nullptr;
    return place.x + ((place.row + r) * a_.width + place.column + c) * a_.words;
  }

  void gather(int64_t pairs) {
    uint16_t* to = index_;
    for (int64_t r = rows_.first; r < rows_.last; ++r)
      for (int64_t c = columns_.first; c < columns_.last; ++c, to += 2 * tap_bytes_)
        for (int64_t p = 0; p < pairs; ++p)
          Set::index(pixel(places_[p], r, c), pixel(places_[p + pairs], r, c), a_.words, to + p * kPairNibbles);
  }

  void count_all(int64_t count, Layout layout) {
    const int64_t pairs = (count + 1) / 2;
    if (pairs == 1) count_pairs<1>(count, layout);
    else if (pairs == 2) count_pairs<2>(count, layout);
    else if (pairs == 3) count_pairs<3>(count, layout);
    else count_pairs<4>(count, layout);
  }

  // Of the rows of taps that all places have outside, where +1 is read there.
  void add_outside(int64_t first) {
    static_assert(Set::kOutputs == kOutsideOutputs);
    const uint8_t* sums = reinterpret_cast<const uint8_t*>(a_.w) + weight_bytes(a_);
    for (int16_t& sum : outside_) sum = 0;
    over_outside(a_, reinterpret_cast<const int16_t*>(sums), first, rows_, {0, a_.kernel}, [&](const int16_t* tap) {
      for (int64_t o = 0; o < kOutsideOutputs; ++o) outside_[o] = int16_t(outside_[o] + tap[o]);
    });
  }

  template <int kPairs>
  void count_pairs(int64_t count, Layout layout) {
    const int64_t rows = rows_.last - rows_.first;
    const bool add = a_.padding && rows < a_.kernel;
    for (int64_t first = 0; first < a_.outputs; first += Set::kOutputs) {
      if (add) add_outside(first);
      const uint8_t* w = reinterpret_cast<const uint8_t*>(a_.w) + first * window_bytes(a_);
      typename Set::template Counts<kPairs> counts;
      const uint16_t* index = index_;
      for (int64_t run = 0; run < layout.runs; ++run) {
        const uint8_t* at = w + ((rows_.first + run) * a_.kernel + columns_.first) * tap_bytes_ * Set::kOutputs;
        if (layout.apart) index = index_ + run * layout.apart;
        for (int64_t left = layout.bytes; left > 0;) {
          const int64_t bytes = bytes_together(left);
          counts.add(index, layout.pitch, at, bytes);
          left -= bytes;
          at += bytes * Set::kOutputs;
          index += 2 * bytes;
        }
      }
      for (int64_t k = 0; k < count; ++k) {
        const int64_t taps = a_.padding ? rows * a_.kernel : places_[k].taps();
        counts.store(k % kPairs, k / kPairs, taps * a_.channels, add ? outside_ : nullptr, places_[k].sums + first,
                     a_.outputs - first);
      }
    }
  }

  const BinaryConvArgs& a_;
  const int64_t tap_bytes_;
  int64_t sample_ = 0, row_ = 0, column_ = 0;  // of the next place
  TapRange rows_, columns_;                    // taps that some of the places need
  PairPlace places_[2 * kMaxPairs];
  alignas(32) int16_t outside_[kOutsideOutputs];
  uint64_t ones_[(1 << 15) / 64];
  uint16_t index_[kMaxNibbles + kNibbleSlack];
};

// The functions of a kernel set. Set::transpose(rows, apart, there, to): byte b of kOutputs rows, of which so many are
// `there` and the others 0, for the eight bytes of a word; rows lie `apart` words from one another.
template <class Set>
struct PairKernel {
  using Convolution = PairConvolution<Set>;

  static uint64_t packed_weights_bytes(const BinaryConvArgs& a) {
    if (!Convolution::serves(a)) return interleaved_bytes(a);
    return uint64_t(Convolution::weight_bytes(a)) + outside_bytes(a);
  }

  static void pack_weights(const BinaryConvArgs& a, uint8_t* packed_weights) {
    if (!Convolution::serves(a)) return interleave_outputs(a, packed_weights);
    pack_outside(a, packed_weights + Convolution::weight_bytes(a));
    const int64_t taps = a.kernel * a.kernel, tap_bytes = (a.channels + 7) / 8;
    for (int64_t first = 0; first < a.outputs; first += Set::kOutputs) {
      for (int64_t tap = 0; tap < taps; ++tap) {
        for (int64_t word = 0; word < a.words; ++word) {
          alignas(32) uint8_t bytes[8 * Set::kOutputs];
          Set::transpose(a.w + (first * taps + tap) * a.words + word, taps * a.words, a.outputs - first, bytes);
          const int64_t some = pair_min(8, tap_bytes - 8 * word);
          __builtin_memcpy(packed_weights, bytes, size_t(some * Set::kOutputs));
          packed_weights += some * Set::kOutputs;
        }
      }
    }
  }

  static void run(const BinaryConvArgs& a) {
    if (!Convolution::serves(a)) return binary_conv_scalar(a);
    Convolution(a).run();
  }

  static constexpr BinaryConv kKernel = {run, packed_weights_bytes, pack_weights};
};

}  // namespace bitreplay
