// The loops of latent_update that all instruction sets share.
//
// The signs of kGroup samples at one pixel make one byte per channel (`index`), and the gradients of these samples at one
// output pixel make one table of subset sums, looked up by that byte. A group is a group of samples, not of pixels, so
// that through any tap its members are inside the map together, and one table serves all taps. For one output:
//
//    tables of some rows and groups (an "item" each)  ->  for each tap and row, a run of items whose tables and index
//    bytes follow one another  ->  sums[tap, channel]  ->  the step of its latent weights
//
// T(bits) = sum of |g| over the samples whose sign is that of g, so that sum of +-g = 2 T - sum of |g|, and T >= 0.
//
// A Path has kGroup samples in an index byte, kTableBytes for one item, kItems (about how many items are held at a time),
// types Gradient and Sum (unsigned, so that it wraps), and the functions
//    arrange(x, words, index)            kGroup rows of x (null: no such sample) -> 64 index bytes a word
//    build(g, table)                     kGroup gradients -> one table
//    add_up(runs, words, minus, sums)    sums[i] += 2 sum of T - minus
//    step(a, row, sums)                  the step of one row of `channels` latent weights; may write to the sums
#pragma once
#include "bits.h"
#include "elements.h"
#include "kernels/latent_update.h"
#include "quant.h"

namespace bitreplay {

constexpr int64_t kOutputsTogether = 8;  // gradients of so many outputs are aligned at a time

// Sums of fewer than 2^16 gradients of 16 bits fit 32 bits.
static inline bool gradients_are_narrow(const LatentUpdateArgs& a) {
  return (a.g_type == BR_INT16 && a.up == 0) || (a.g_type == BR_INT8 && a.up <= 8);
}
static inline bool sums_are_narrow(const LatentUpdateArgs& a) {
  return gradients_are_narrow(a) && a.samples * a.out_h * a.out_w < 1 << 16;
}

// How many groups and output rows are held at a time, and where the parts of the scratch memory start.
template <class Path>
struct LatentPlan {
  int64_t groups, held_groups, held_rows, lanes;
  int64_t index, tables, gradients, sums, pixels, end;

  explicit LatentPlan(const LatentUpdateArgs& a) {
    groups = (a.samples + Path::kGroup - 1) / Path::kGroup;
    held_groups = least(groups, most(1, Path::kItems / (a.out_h * a.out_w)));
    held_rows = least(a.out_h, most(1, Path::kItems / (a.out_w * held_groups)));
    lanes = a.words * kWord;
    const int64_t held_pixels = held_rows * a.out_w;
    index = 0;
    tables = index + groups * a.height * a.width * lanes;
    gradients = tables + round_up(held_groups * held_pixels * Path::kTableBytes);
    sums = gradients + round_up(kOutputsTogether * groups * a.out_h * a.out_w * Path::kGroup *
                                int64_t(sizeof(typename Path::Gradient)));
    pixels = sums + a.kernel * a.kernel * lanes * int64_t(sizeof(typename Path::Sum));
    end = pixels + round_up(2 * held_pixels * int64_t(sizeof(typename Path::Sum)));
  }

  static int64_t round_up(int64_t bytes) { return (bytes + 63) / 64 * 64; }
};

// Items of one tap: rows * runs * length of them. Within a run the next table is kTableBytes further, the next index
// bytes `lanes` further.
struct LatentRuns {
  const uint8_t *tables, *index;
  int64_t rows, row_tables, row_index;  // distances in bytes
  int64_t runs, run_tables, run_index;
  int64_t length;

  template <class Run>
  void each(Run run) const {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t k = 0; k < runs; ++k)
        run(tables + r * row_tables + k * run_tables, index + r * row_index + k * run_index);
  }
};

// The outputs first <= o < last that read inside [0, size) through a tap.
struct OutputRange {
  int64_t first, last;
};
static inline OutputRange outputs_inside(int64_t tap, int64_t stride, int64_t pad, int64_t size, int64_t out) {
  const int64_t first = tap >= pad ? 0 : (pad - tap + stride - 1) / stride, reach = size - 1 + pad - tap;
  const int64_t last = reach < 0 ? 0 : least(out, reach / stride + 1);
  return {least(first, last), last};
}

template <class Path>
class LatentLoops {
 public:
  using Sum = typename Path::Sum;
  using Gradient = typename Path::Gradient;

  explicit LatentLoops(const LatentUpdateArgs& a) : a_(a), plan_(a) {}

  void run() {
    arrange();
    for (int64_t first = 0; first < a_.outputs; first += kOutputsTogether) {
      const int64_t count = least(kOutputsTogether, a_.outputs - first);
      align(first, count);
      for (int64_t o = 0; o < count; ++o) output(first + o, gradients() + o * plan_.groups * pixels() * Path::kGroup);
    }
  }

 private:
  int64_t pixels() const { return a_.out_h * a_.out_w; }
  Gradient* gradients() const { return reinterpret_cast<Gradient*>(a_.scratch + plan_.gradients); }
  Sum* sums() const { return reinterpret_cast<Sum*>(a_.scratch + plan_.sums); }
  uint8_t* tables() const { return a_.scratch + plan_.tables; }
  uint8_t* index(int64_t first_group) const {
    return a_.scratch + plan_.index + first_group * a_.height * a_.width * plan_.lanes;
  }

  // Index bytes: [groups / held_groups][height * width][groups held][lanes].
  void arrange() {
    const int64_t size = a_.height * a_.width;
    for (int64_t first = 0; first < plan_.groups; first += plan_.held_groups) {
      const int64_t held = least(plan_.held_groups, plan_.groups - first);
      uint8_t* to = index(first);
      for (int64_t pixel = 0; pixel < size; ++pixel) {
        for (int64_t group = first; group < first + held; ++group, to += plan_.lanes) {
          const uint64_t* x[Path::kGroup];
          for (int64_t j = 0; j < Path::kGroup; ++j) {
            const int64_t n = group * Path::kGroup + j;
            x[j] = n < a_.samples ? a_.x + (n * size + pixel) * a_.words : nullptr;
          }
          Path::arrange(x, a_.words, to);
        }
      }
    }
  }

  // Gradients: [outputs][groups / held_groups][out_h * out_w][groups held][kGroup], the samples brought to one exponent.
  void align(int64_t first, int64_t count) {
    const int64_t size = pixels(), per_output = plan_.groups * size * Path::kGroup;
    for (int64_t n = 0; n < plan_.groups * Path::kGroup; ++n) {
      const int64_t group = n / Path::kGroup, chunk = group / plan_.held_groups * plan_.held_groups;
      const int64_t held = least(plan_.held_groups, plan_.groups - chunk);
      Gradient* to = gradients() + (chunk * size + group - chunk) * Path::kGroup + n % Path::kGroup;
      const bool live = n < a_.samples && a_.e[n] > kNoGradient;
      const int64_t shift = live ? sub(a_.top, a_.e[n]) : 0;
      for (int64_t pixel = 0; pixel < size; ++pixel, to += held * Path::kGroup) {
        Gradient row[kOutputsTogether] = {};
        if (live) aligned_row((n * size + pixel) * a_.outputs + first, count, shift, row);
        for (int64_t o = 0; o < count; ++o) to[o * per_output] = row[o];
      }
    }
  }

  void aligned_row(int64_t at, int64_t count, int64_t shift, Gradient* row) const {
    if (sizeof(Gradient) == 2) {
      if (a_.g_type == BR_INT8) return narrow_row(static_cast<const int8_t*>(a_.g) + at, count, shift, row);
      return narrow_row(static_cast<const int16_t*>(a_.g) + at, count, shift, row);
    }
    int64_t wide[kOutputsTogether];
    widen(a_.g_type, a_.g, at, count, wide);
    for (int64_t o = 0; o < count; ++o) row[o] = Gradient(round_shift(left(wide[o], a_.up), shift));
  }

  // round_shift on 16 bits: from 17 places on, nothing is left.
  template <class G>
  void narrow_row(const G* g, int64_t count, int64_t shift, Gradient* row) const {
    const int32_t places = int32_t(least(shift, 17)), half = places ? 1 << (places - 1) : 0, tie = places ? 1 : 0;
    const int32_t unit = 1 << a_.up;
    for (int64_t o = 0; o < count; ++o) {
      const int32_t value = g[o] * unit;
      row[o] = Gradient((value + half - (value < 0 ? tie : 0)) >> places);
    }
  }

  void output(int64_t o, const Gradient* g) {
    const int64_t taps = a_.kernel * a_.kernel;
    for (int64_t i = 0; i < taps * plan_.lanes; ++i) sums()[i] = 0;
    for (int64_t group = 0; group < plan_.groups; group += plan_.held_groups) {
      const int64_t held = least(plan_.held_groups, plan_.groups - group);
      for (int64_t row = 0; row < a_.out_h; row += plan_.held_rows) {
        const int64_t rows = least(plan_.held_rows, a_.out_h - row);
        build(g + (group * pixels() + row * a_.out_w * held) * Path::kGroup, held, rows * a_.out_w);
        for (int64_t tap = 0; tap < taps; ++tap) add_tap(tap, group, held, row, rows);
      }
    }
    for (int64_t tap = 0; tap < taps; ++tap) Path::step(a_, o * taps + tap, sums() + tap * plan_.lanes);
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

  // Output rows row .. row + rows through one tap.
  void add_tap(int64_t tap, int64_t group, int64_t held, int64_t row, int64_t rows) {
    const int64_t tap_row = tap / a_.kernel, tap_column = tap % a_.kernel, stride = a_.stride;
    OutputRange down = outputs_inside(tap_row, stride, a_.pad, a_.height, a_.out_h);
    const OutputRange across = outputs_inside(tap_column, stride, a_.pad, a_.width, a_.out_w);
    down = {most(down.first, row), least(down.last, row + rows)};
    const int64_t columns = across.last - across.first;
    const bool any = down.first < down.last && columns > 0;
    if (!any && !a_.padding) return;
    Sum minus = 0;
    if (a_.padding)
      for (int64_t pixel = 0; pixel < rows * a_.out_w; ++pixel) minus -= total_[pixel];
    for (int64_t r = down.first; any && r < down.last; ++r) {
      for (int64_t c = across.first; c < across.last; ++c) {
        const int64_t pixel = (r - row) * a_.out_w + c;
        minus += magnitude_[pixel];
        if (a_.padding) minus += total_[pixel];
      }
    }
    LatentRuns runs = {};
    if (any) {
      const int64_t x_row = down.first * stride + tap_row - a_.pad, x_column = across.first * stride + tap_column - a_.pad;
      const int64_t pixel_index = held * plan_.lanes, pixel_tables = held * Path::kTableBytes;
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
    }
    Path::add_up(runs, a_.words, minus, sums() + tap * plan_.lanes);
  }

  const LatentUpdateArgs& a_;
  const LatentPlan<Path> plan_;
  Sum *magnitude_ = nullptr, *total_ = nullptr;
};

}  // namespace bitreplay
