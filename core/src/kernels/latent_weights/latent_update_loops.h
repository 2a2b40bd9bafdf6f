// The loops of latent_update that all instruction sets share.
//
// The signs of kGroup samples at one pixel make one byte per channel (`index`), and the gradients of these samples at
// one output pixel make one table of subset sums, looked up by that byte. A group is a group of samples, not of pixels,
// so that through any tap its members are inside the map together, and one table serves all taps. For one output:
//
//    tables of some rows and groups (an "item" each)  ->  for each tap and row, a run of items whose tables and index
//    bytes follow one another  ->  sums[tap, channel]  ->  the step of its latent weights
//
// T(bits) = sum of |g| over the samples whose sign is that of g, so that sum of +-g = 2 T - sum of |g|, and T >= 0.
//
// A Path has kGroup samples in an index byte, kTableBytes for one item, kItems (about how many are held at a time) and
// kWords of channels in a block, for which it goes through all taps before the next, so that their index bytes stay in
// the first-level cache; types Gradient and Sum (unsigned, so that it wraps), and the functions
//    arrange(x, words, index)            kGroup pieces of x (null: no such sample) -> 64 index bytes a word
//    build(g, table)                     kGroup gradients -> one table
//    add_up(runs, block, words, sums)    sums[i] += 2 sum of T - minus for the channels of `words` words; `block` is
//                                        where their index bytes start behind those of the first block
//    step(a, row, sums)                  the step of one row of `channels` latent weights; may write to the sums
#pragma once
#include "arithmetic/elements.h"
#include "arithmetic/quant.h"
#include "kernels/latent_weights/latent_plan.h"

namespace bitreplay {

// round_shift on 16 bits: from 17 places on, nothing is left.
template <class G>
__attribute__((always_inline)) static inline void narrow_row(const G* g, int64_t up, int64_t count, int64_t shift,
                                                             int16_t* row) {
  const int32_t places = int32_t(min_of(shift, 17)), half = places ? 1 << (places - 1) : 0, tie = places ? 1 : 0;
  const int32_t unit = 1 << up;
  for (int64_t o = 0; o < count; ++o) {
    const int32_t value = g[o] * unit;
    row[o] = int16_t((value + half - (value < 0 ? tie : 0)) >> places);
  }
}

// `count` gradients from element `at` on, in units of the largest exponent.
__attribute__((always_inline)) static inline void aligned_row(const LatentUpdateArgs& a, int64_t at, int64_t count,
                                                              int64_t shift, int16_t* row) {
  if (a.g_type == BR_INT8) return narrow_row(static_cast<const int8_t*>(a.g) + at, a.up, count, shift, row);
  narrow_row(static_cast<const int16_t*>(a.g) + at, a.up, count, shift, row);
}
static inline void aligned_row(const LatentUpdateArgs& a, int64_t at, int64_t count, int64_t shift, int64_t* row) {
  int64_t wide[kOutputsTogether];
  widen(a.g_type, a.g, at, count, wide);
  for (int64_t o = 0; o < count; ++o) row[o] = round_shift(left(wide[o], a.up), shift);
}

template <class Path>
class LatentLoops {
 public:
  using Sum = typename Path::Sum;
  using Gradient = typename Path::Gradient;
  using Runs = LatentRuns<Sum>;

  explicit LatentLoops(const LatentUpdateArgs& a) : a_(a), plan_(a) {}

  // The outputs for which wanted(o).
  template <class Wanted>
  void run(Wanted wanted) {
    bool arranged = false;
    for (int64_t first = a_.first; first < a_.last; first += kOutputsTogether) {
      const int64_t count = min_of(kOutputsTogether, a_.last - first);
      bool any = false;
      for (int64_t o = 0; o < count; ++o) any = any || wanted(first + o);
      if (!any) continue;
      if (!arranged) arrange();
      arranged = true;
      align(first, count);
      for (int64_t o = 0; o < count; ++o)
        if (wanted(first + o)) output(first + o, gradients() + o * plan_.groups * pixels() * Path::kGroup);
    }
  }

 private:
  int64_t words_of(int64_t block) const { return min_of(plan_.words, a_.words - block * plan_.words); }
  int64_t pixels() const { return a_.out_h * a_.out_w; }
  Gradient* gradients() const { return reinterpret_cast<Gradient*>(a_.scratch + plan_.gradients); }
  Sum* sums() const { return reinterpret_cast<Sum*>(a_.scratch + plan_.sums); }
  Runs* runs() const { return reinterpret_cast<Runs*>(a_.scratch + plan_.taps); }
  uint8_t* tables() const { return a_.scratch + plan_.tables; }
  uint8_t* index(int64_t first_group) const {
    return a_.scratch + plan_.index + first_group * a_.height * a_.width * plan_.words * kWord;
  }

  // Index bytes: [blocks][groups / held_groups][height * width][groups held][words * 64].
  void arrange() {
    const int64_t size = a_.height * a_.width;
    for (int64_t first = 0; first < plan_.groups; first += plan_.held_groups) {
      const int64_t held = min_of(plan_.held_groups, plan_.groups - first);
      for (int64_t at = 0; at < size * held; ++at) {
        for (int64_t block = 0; block < plan_.blocks; ++block) {
          const uint64_t* x[Path::kGroup];
          for (int64_t j = 0; j < Path::kGroup; ++j) {
            const int64_t n = (first + at % held) * Path::kGroup + j;
            x[j] = n < a_.samples ? a_.x + (n * size + at / held) * a_.words + block * plan_.words : nullptr;
          }
          Path::arrange(x, words_of(block), index(first) + block * plan_.block_bytes + at * plan_.words * kWord);
        }
      }
    }
  }

  // Gradients, brought to one exponent: [outputs][groups / held_groups][out_h * out_w][groups held][kGroup].
  void align(int64_t first, int64_t count) {
    const int64_t size = pixels(), per_output = plan_.groups * size * Path::kGroup;
    for (int64_t n = 0; n < plan_.groups * Path::kGroup; ++n) {
      const int64_t group = n / Path::kGroup, chunk = group / plan_.held_groups * plan_.held_groups;
      const int64_t held = min_of(plan_.held_groups, plan_.groups - chunk);
      Gradient* to = gradients() + (chunk * size + group - chunk) * Path::kGroup + n % Path::kGroup;
      const bool live = n < a_.samples && a_.e[n] > kNoGradient;
      const int64_t shift = live ? sub(a_.top, a_.e[n]) : 0;
      for (int64_t pixel = 0; pixel < size; ++pixel, to += held * Path::kGroup) {
        Gradient row[kOutputsTogether] = {};
        if (live) aligned_row(a_, (n * size + pixel) * a_.outputs + first, count, shift, row);
        for (int64_t o = 0; o < count; ++o) to[o * per_output] = row[o];
      }
    }
  }

  void output(int64_t o, const Gradient* g) {
    const int64_t taps = a_.kernel * a_.kernel, lanes = a_.words * kWord;
    for (int64_t i = 0; i < taps * lanes; ++i) sums()[i] = 0;
    for (int64_t group = 0; group < plan_.groups; group += plan_.held_groups) {
      const int64_t held = min_of(plan_.held_groups, plan_.groups - group);
      for (int64_t row = 0; row < a_.out_h; row += plan_.held_rows) {
        const int64_t rows = min_of(plan_.held_rows, a_.out_h - row);
        build(g + (group * pixels() + row * a_.out_w * held) * Path::kGroup, held, rows * a_.out_w);
        for (int64_t tap = 0; tap < taps; ++tap) runs()[tap] = runs_of(tap, group, held, row, rows);
        for (int64_t block = 0; block < plan_.blocks; ++block) {
          Sum* to = sums() + block * plan_.words * kWord;
          for (int64_t tap = 0; tap < taps; ++tap)
            Path::add_up(runs()[tap], block * plan_.block_bytes, words_of(block), to + tap * lanes);
        }
      }
    }
    for (int64_t tap = 0; tap < taps; ++tap) Path::step(a_, o * taps + tap, sums() + tap * lanes);
  }

  // Tables of `held` groups at each of `count` output pixels, and per pixel the sums of |g| and of g.
  void build(const Gradient* g, int64_t held, int64_t count) {
    uint8_t* table = tables();
    magnitude_ = reinterpret_cast<Sum*>(a_.scratch + plan_.pixels);
    total_ = magnitude_ + count;
    for (int64_t pixel = 0; pixel < count; ++pixel) {
      Sum magnitude = 0, total = 0;
      for (int64_t j = 0; j < held * Path::kGroup; ++j) {
        magnitude += g[j] < 0 ? Sum(0) - Sum(g[j]) : Sum(g[j]);
        total += Sum(g[j]);
      }
      magnitude_[pixel] = magnitude;
      total_[pixel] = total;
      for (int64_t k = 0; k < held; ++k, g += Path::kGroup, table += Path::kTableBytes) Path::build(g, table);
    }
  }

  // What one tap reads for output rows row .. row + rows.
  Runs runs_of(int64_t tap, int64_t group, int64_t held, int64_t row, int64_t rows) const {
    const int64_t tap_row = tap / a_.kernel, tap_column = tap % a_.kernel, stride = a_.stride;
    OutputRange down = outputs_inside(tap_row, stride, a_.pad, a_.height, a_.out_h);
    const OutputRange across = outputs_inside(tap_column, stride, a_.pad, a_.width, a_.out_w);
    down = {max_of(down.first, row), min_of(down.last, row + rows)};
    const int64_t columns = across.last - across.first;
    Runs runs = {};
    if (a_.padding)
      for (int64_t pixel = 0; pixel < rows * a_.out_w; ++pixel) runs.minus -= total_[pixel];
    if (down.first >= down.last || columns == 0) return runs;
    for (int64_t r = down.first; r < down.last; ++r) {
      for (int64_t c = across.first; c < across.last; ++c) {
        const int64_t pixel = (r - row) * a_.out_w + c;
        runs.minus += magnitude_[pixel] + (a_.padding ? total_[pixel] : Sum(0));
      }
    }
    const int64_t x_row = down.first * stride + tap_row - a_.pad;
    const int64_t x_column = across.first * stride + tap_column - a_.pad;
    const int64_t pixel_index = held * plan_.words * kWord, pixel_tables = held * Path::kTableBytes;
    runs.tables = tables() + ((down.first - row) * a_.out_w + across.first) * pixel_tables;
    runs.index = index(group) + (x_row * a_.width + x_column) * pixel_index;
    runs.rows = down.last - down.first;
    runs.row_tables = a_.out_w * pixel_tables;
    runs.row_index = stride * a_.width * pixel_index;
    // Neighbours at stride 1 follow one another.
    runs.runs = stride == 1 ? 1 : columns;
    runs.run_tables = pixel_tables;
    runs.run_index = stride * pixel_index;
    runs.length = stride == 1 ? columns * held : held;
    runs.lanes = plan_.words * kWord;
    return runs;
  }

  const LatentUpdateArgs& a_;
  const LatentPlan<Path> plan_;
  Sum *magnitude_ = nullptr, *total_ = nullptr;
};

}  // namespace bitreplay
