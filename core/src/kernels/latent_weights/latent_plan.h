// latent_update: how its work is cut, where the parts of its scratch memory lie, and which items a tap reads. For what
// an item and a Path are, see latent_update_loops.h.
#pragma once
#include "arithmetic/packing.h"
#include "bitreplay.h"
#include "kernels/latent_weights/latent_update.h"

namespace bitreplay {

constexpr int64_t kOutputsTogether = 8;  // gradients of so many outputs are aligned at a time

// Sums of fewer than 2^16 gradients of 16 bits fit 32 bits.
static inline bool gradients_are_narrow(const LatentUpdateArgs& a) {
  return (a.g_type == BR_INT16 && a.up == 0) || (a.g_type == BR_INT8 && a.up <= 8);
}
static inline bool sums_are_narrow(const LatentUpdateArgs& a) {
  return gradients_are_narrow(a) && a.samples * a.out_h * a.out_w < 1 << 16;
}

// Items of one tap: rows * runs * length of them. Within a run the next table is kTableBytes further, the next index
// bytes `lanes` further.
template <class Sum>
struct LatentRuns {
  const uint8_t *tables, *index;
  int64_t rows, row_tables, row_index;  // distances in bytes
  int64_t runs, run_tables, run_index;
  int64_t length, lanes;
  Sum minus;  // the sum of |g| of all items, less what is read outside the map

  template <class Run>
  void each(int64_t block, Run run) const {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t k = 0; k < runs; ++k)
        run(tables + r * row_tables + k * run_tables, index + block + r * row_index + k * run_index);
  }

  // The same items in parts of at most `max_items`, counting each run as a multiple of `unit`: add(part).
  template <class Add>
  void in_parts(int64_t max_items, int64_t unit, int64_t table_bytes, Add add) const {
    if (rows * runs * ((length + unit - 1) / unit * unit) <= max_items) return add(*this);
    LatentRuns part = *this;
    part.rows = part.runs = 1;
    each(0, [&](const uint8_t* table, const uint8_t* places) {
      for (int64_t at = 0; at < length; at += max_items) {
        part.tables = table + at * table_bytes;
        part.index = places + at * lanes;
        part.length = min_of(max_items, length - at);
        add(part);
        part.minus = 0;
      }
    });
  }
};

// How many groups and output rows are held at a time, and where the parts of the scratch memory start.
template <class Path>
struct LatentPlan {
  int64_t groups, held_groups, held_rows;
  int64_t words, blocks, block_bytes;  // words and index bytes of a block
  int64_t index, tables, gradients, sums, pixels, taps, end;

  explicit LatentPlan(const LatentUpdateArgs& a) {
    groups = (a.samples + Path::kGroup - 1) / Path::kGroup;
    held_groups = min_of(groups, max_of(1, Path::kItems / (a.out_h * a.out_w)));
    held_rows = min_of(a.out_h, max_of(1, Path::kItems / (a.out_w * held_groups)));
    words = min_of(a.words, Path::kWords);
    blocks = (a.words + words - 1) / words;
    block_bytes = groups * a.height * a.width * words * kWord;
    const int64_t held_pixels = held_rows * a.out_w;
    index = 0;
    tables = index + blocks * block_bytes;
    gradients = tables + round_up(held_groups * held_pixels * Path::kTableBytes);
    sums = gradients + round_up(kOutputsTogether * groups * a.out_h * a.out_w * Path::kGroup *
                                int64_t(sizeof(typename Path::Gradient)));
    pixels = sums + a.kernel * a.kernel * a.words * kWord * int64_t(sizeof(typename Path::Sum));
    taps = pixels + round_up(2 * held_pixels * int64_t(sizeof(typename Path::Sum)));
    end = taps + round_up(a.kernel * a.kernel * int64_t(sizeof(LatentRuns<typename Path::Sum>)));
  }

  static int64_t round_up(int64_t bytes) { return (bytes + 63) / 64 * 64; }
};

// The outputs first <= o < last that read inside [0, size) through a tap.
struct OutputRange {
  int64_t first, last;
};
static inline OutputRange outputs_inside(int64_t tap, int64_t stride, int64_t pad, int64_t size, int64_t out) {
  const int64_t first = tap >= pad ? 0 : (pad - tap + stride - 1) / stride, reach = size - 1 + pad - tap;
  const int64_t last = reach < 0 ? 0 : min_of(out, reach / stride + 1);
  return {min_of(first, last), last};
}

}  // namespace bitreplay
