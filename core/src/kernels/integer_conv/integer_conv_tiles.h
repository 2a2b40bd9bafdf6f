// Integer convolution on x86 in tiles: some pixels by one or two vectors of outputs stay in registers while the numbers
// of a row go by, some of them a step in each lane.
//
// Kind     Vector, kLanes; Input, as which inputs are read, and Weight; kNumbers of a lane in a step, 32 bits together;
//          kPixels of a tile, which may be one more; spread(from): the next kNumbers in all lanes; dot(sums, x, w);
//          kTaken: whether sums begin with what is taken from them, one number an output, taken(a, sum of weights).
//          gather(a, pixel, to): the bytes of a pixel's row. kDense: dense rows (below) are read where they lie.
// Weights  two vectors of outputs side by side, the last by itself where there is one more; in each the steps of a row,
//          in each the vectors. Channels are in Order::pairs (affine_of_sums.h). Behind them what is taken.
// Rows     of 16-bit inputs whose taps are all inside are read where they lie, a row of taps after the other; bytes are
//          gathered. Dense: a kernel of 1 and as many results as pixels, so that rows follow one another.
#pragma once
#include "kernels/affine/affine_of_sums.h"
#include "kernels/integer_conv/integer_conv_pairs.h"

#define INLINE __attribute__((always_inline)) inline

namespace bitreplay {
namespace {

template <class Kind>
struct Tiles {
  using Vector = typename Kind::Vector;
  using Input = typename Kind::Input;
  using Weight = typename Kind::Weight;
  static constexpr int64_t kLanes = Kind::kLanes, kGroup = 2 * kLanes, kMost = Kind::kPixels + 1;
  static_assert(kLanes == bitreplay::kLanes, "the same vectors as the affine's");

  static bool serves(const IntegerConvArgs& a) { return Kind::serves(a); }
  static int64_t vectors_of(const IntegerConvArgs& a) { return groups_of(a, kLanes); }
  // Numbers of a row of taps, and steps of all.
  static int64_t tap_row_of(const IntegerConvArgs& a) {
    const int64_t row = a.kernel * a.channels;
    return a.x_type == BR_INT16 ? row + row % 2 : row;
  }
  static int64_t steps_of(const IntegerConvArgs& a) {
    return (a.kernel * tap_row_of(a) + Kind::kNumbers - 1) / Kind::kNumbers;
  }

  static uint64_t packed_weights_bytes(const IntegerConvArgs& a) {
    return uint64_t(vectors_of(a) * kLanes * 4 * (steps_of(a) + Kind::kTaken));
  }

  static void pack_weights(const IntegerConvArgs& a, uint8_t* packed_weights) {
    const int64_t row = row_of(a), steps = steps_of(a), tap_row = tap_row_of(a), there = a.kernel * a.channels;
    const int64_t vectors = vectors_of(a);
    memset(packed_weights, 0, packed_weights_bytes(a));
    for (int64_t vector = 0; vector < vectors; ++vector) {
      const int64_t group = vector / 2 * 2, side = min_of(2, vectors - group);
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        const int64_t o = channel_in(Order::pairs, a.outputs, vector, lane);
        if (o >= a.outputs) continue;
        uint8_t* to = packed_weights + ((group * steps + vector - group) * kLanes + lane) * 4;
        int64_t sum = 0;
        for (int64_t k = 0; k < row; ++k) {
          int64_t value = 0;
          widen(a.w_type, a.w, o * row + k, 1, &value);
          sum += value;
          const int64_t at = k / there * tap_row + k % there;
          const Weight weight = Weight(value);
          memcpy(to + at / Kind::kNumbers * side * kLanes * 4 + at % Kind::kNumbers * sizeof weight, &weight,
                 sizeof weight);
        }
        const int32_t taken = int32_t(Kind::taken(a, sum));
        if (Kind::kTaken) memcpy(packed_weights + ((vectors * steps + vector) * kLanes + lane) * 4, &taken, 4);
      }
    }
  }

  // Rows of taps of some pixels: `steps` steps each, `apart` numbers from one another.
  struct Rows {
    const Input* x[kMost];
    int64_t rows, steps, apart;
  };

  // kVectors vectors of outputs of kPixels pixels from number `q` on, of which `pixels` are there.
  template <int kVectors, int kPixels, class Finish>
  static __attribute__((noinline)) void tile(const Rows& from, const uint8_t* w, const int32_t* taken, int64_t q,
                                             int64_t pixels, int64_t output, Finish& finish) {
    const Input* x[kPixels];
    Vector sums[kPixels][kVectors];
#pragma GCC unroll 9
    for (int p = 0; p < kPixels; ++p) {
      x[p] = from.x[p];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sums[p][v] = Kind::kTaken ? Kind::load(taken + v * kLanes) : Kind::zero();
    }
    for (int64_t row = 0; row < from.rows; ++row) {
      const int64_t begin = row * from.apart, end = begin + from.steps * Kind::kNumbers;
      for (int64_t at = begin; at < end; at += Kind::kNumbers, w += kVectors * kLanes * 4) {
        Vector weights[kVectors];
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) weights[v] = Kind::load(w + v * kLanes * 4);
#pragma GCC unroll 9
        for (int p = 0; p < kPixels; ++p) {
          const Vector some = Kind::spread(x[p] + at);
#pragma GCC unroll 2
          for (int v = 0; v < kVectors; ++v) sums[p][v] = Kind::dot(sums[p][v], some, weights[v]);
        }
      }
    }
    finish.put(q, pixels, output, sums);
  }

  // Sums as they are, or rounded.
  struct PutSums {
    const IntegerConvArgs& a;

    template <int kPixels, int kVectors>
    INLINE void put(int64_t q, int64_t pixels, int64_t output, const Vector (&sums)[kPixels][kVectors]) {
      int32_t* to = a.sums + q * a.outputs + output;
      const bool whole = pixels >= kPixels && a.outputs - output >= kVectors * kLanes && a.down == 0;
      alignas(64) int32_t exact[kPixels][kVectors * kLanes];
#pragma GCC unroll 9
      for (int p = 0; p < kPixels; ++p)
        Kind::store(whole ? to + p * a.outputs : exact[p], sums[p][0], sums[p][kVectors - 1], kVectors);
      for (int64_t p = 0; !whole && p < min_of(pixels, kPixels); ++p)
        for (int64_t o = 0; o < min_of(kVectors * kLanes, a.outputs - output); ++o)
          to[p * a.outputs + o] = int32_t(round_shift(exact[p][o], a.down));
    }
  };

  // What affine makes of them.
  template <bool kPlain, bool kResidual, bool kTies>
  struct PutBytes {
    const AffineArgs& a;
    const AffineOfSums& affine;
    Lanes same = all_lanes(0);  // numbers that were not saturated, of whole tiles
    int64_t all = 0, outside = 0;

    PutBytes(const AffineArgs& args, const AffineOfSums& of) : a(args), affine(of) {}
    int64_t saturated() const { return outside + all - sum_of(same); }

    template <int kPixels>
    INLINE void put(int64_t q, int64_t pixels, int64_t output, const Vector (&sums)[kPixels][2]) {
      const int64_t channels = a.channels, at = q * channels + output, there = channels - output;
      int8_t* to = static_cast<int8_t*>(a.y) + at;
      const int8_t* residual = static_cast<const int8_t*>(a.residual) + (kResidual ? at : 0);
      const AffineOfSums::Finish<kPlain, kResidual, kTies> with(affine, a);
      const AffineOfSums::Column first = affine.columns[output / kLanes], second = affine.columns[output / kLanes + 1];
      const auto exact = [&](int64_t p, int64_t count) __attribute__((always_inline)) {
        Lanes low = {sums[p][0]}, high = {sums[p][1]}, own = low, next = high;
        if (kResidual) load_residual(residual + p * channels, count, &own, &next);
        return pack(AffineOfSums::exact(with, first, low, own), AffineOfSums::exact(with, second, high, next));
      };
      if (there < kWords || pixels < kPixels) {
#pragma GCC unroll 9
        for (int p = 0; p < kPixels; ++p) {
          if (p >= pixels) continue;
          const Words words = exact(p, there), inside = smaller(larger(words, with.low), with.high);
          outside += store_some(words, inside, to + p * channels, min_of(there, kWords));
        }
        return;
      }
      Words equal = all_words(0);
      Words before = equal;
#pragma GCC unroll 9
      for (int p = 0; p < kPixels; ++p) {
        const Words words = exact(p, kWords), inside = smaller(larger(words, with.low), with.high);
        equal = count_same(equal, words, inside);
        if (p % 2) store_two(to + (p - 1) * channels, to + p * channels, before, inside);
        else if (p == kPixels - 1) store_bytes(to + p * channels, inside);
        before = inside;
      }
      same = add_pairs(same, equal);
      all += kPixels * kWords;
    }

    template <int kPixels>
    INLINE void put(int64_t q, int64_t pixels, int64_t output, const Vector (&sums)[kPixels][1]) {
      const int64_t channels = a.channels, at = q * channels + output, there = channels - output;
      int8_t* to = static_cast<int8_t*>(a.y) + at;
      const int8_t* residual = static_cast<const int8_t*>(a.residual) + (kResidual ? at : 0);
      const AffineOfSums::Finish<kPlain, kResidual, kTies> with(affine, a);
      const AffineOfSums::Column own = affine.columns[output / kLanes];
      const bool whole = there >= kLanes && pixels >= kPixels;
      Lanes equal = all_lanes(0);
#pragma GCC unroll 9
      for (int p = 0; p < kPixels; ++p) {
        if (p >= pixels) continue;
        const Lanes sum = {sums[p][0]};
        const Lanes beside = kResidual ? load_residual(residual + p * channels, there) : sum;
        const Lanes exact = AffineOfSums::exact(with, own, sum, beside);
        const Lanes inside = smaller(larger(exact, with.lowest), with.highest);
        if (whole) {
          equal = count_same(equal, exact, inside);
          store_lanes(to + p * channels, inside);
        } else {
          outside += store_some(exact, inside, to + p * channels, min_of(there, kLanes));
        }
      }
      if (whole) same = same + equal, all += kPixels * kLanes;
    }
  };

  template <int kVectors, class Finish>
  static void pixels_by(const Rows& from, const uint8_t* w, const int32_t* taken, int64_t q, int64_t pixels,
                        int64_t output, Finish& finish) {
    if (pixels > Kind::kPixels) return tile<kVectors, kMost>(from, w, taken, q, pixels, output, finish);
    if (pixels <= Kind::kPixels / 2)
      return tile<kVectors, Kind::kPixels / 2>(from, w, taken, q, pixels, output, finish);
    tile<kVectors, Kind::kPixels>(from, w, taken, q, pixels, output, finish);
  }

  // All outputs of a group from `output` on, of the pixels from `q` on.
  template <class Finish>
  static void group(const IntegerConvArgs& a, const Rows& from, int64_t q, int64_t pixels, int64_t output,
                    Finish& finish) {
    const int64_t steps = steps_of(a), outputs = vectors_of(a) * kLanes;
    const int32_t* taken = reinterpret_cast<const int32_t*>(a.packed_weights) + outputs * steps + output;
    const uint8_t* w = a.packed_weights + output * steps * 4;
    if (outputs - output > kLanes) pixels_by<2>(from, w, taken, q, pixels, output, finish);
    else pixels_by<1>(from, w, taken, q, pixels, output, finish);
  }

  // The pixels of the next tile: one more where that spares a tile of few.
  static int64_t next_tile(int64_t left) {
    const bool more = left % Kind::kPixels && left % Kind::kPixels <= left / Kind::kPixels;
    return min_of(left, Kind::kPixels + more);
  }

  static bool is_dense(const IntegerConvArgs& a) {
    return a.kernel == 1 && a.pad == 0 && a.stride == 1 && a.channels % Kind::kNumbers == 0 && a.out_h == a.height &&
           a.out_w == a.width && a.x_type == BR_INT8;
  }

  template <class Finish>
  static void run(const IntegerConvArgs& a, Finish& finish) {
    const int64_t pixels = a.samples * a.out_h * a.out_w, steps = steps_of(a);
    const bool dense = is_dense(a);
    if (a.x_type == BR_INT16) return run_rows(a, finish);
    if (dense && Kind::kDense && a.outputs > pixels) {  // what there is less of stays in the first cache
      for (int64_t o = 0; o < a.outputs; o += kGroup)
        for (int64_t q = 0, count; q < pixels; q += count) {
          count = next_tile(pixels - q);
          Rows from = {{}, 1, steps, 0};
          place(static_cast<const Input*>(a.x) + q * a.channels, a.channels, count, from);
          group(a, from, q, count, o, finish);
        }
      return;
    }
    alignas(64) Input inputs[kMost][kLongestRow];
    OutputPixel next = {0, 0, 0};
    for (int64_t q = 0, count; q < pixels; q += count) {
      count = next_tile(pixels - q);
      Rows from = {{}, 1, steps, 0};
      if (dense) {
        place(Kind::dense(a, q, count, inputs[0]), a.channels, count, from);
      } else {
        for (int64_t p = 0; p < count; ++p, next.advance(a)) Kind::gather(a, next, inputs[p]);
        place(inputs[0], kLongestRow, count, from);
      }
      for (int64_t o = 0; o < a.outputs; o += kGroup) group(a, from, q, count, o, finish);
    }
  }

  // 16-bit inputs, a row of results after the other: read where they lie, or gathered so that rows of taps are as far
  // apart as there.
  template <class Finish>
  static void run_rows(const IntegerConvArgs& a, Finish& finish) {
    alignas(64) Input inputs[kMost][kLongestRow];
    const Input* const x = static_cast<const Input*>(a.x);
    const int64_t own = a.kernel * a.channels, tap_row = tap_row_of(a), step = a.stride * a.channels;
    const bool fits = a.width >= a.kernel && (a.kernel - 1) * a.width * a.channels + tap_row <= kLongestRow;
    Rows from = {{}, a.kernel, tap_row / 2, fits ? a.width * a.channels : tap_row};
    // Columns whose taps are all inside the map.
    const int64_t first = (a.pad + a.stride - 1) / a.stride;
    const int64_t behind = min_of(a.out_w, (a.width + a.pad - a.kernel + a.stride) / a.stride);
    const auto gather = [&](OutputPixel pixel, Input* to) {
      for (int64_t r = 0; r < a.kernel; ++r) memset(to + r * from.apart, 0, size_t(tap_row) * sizeof(Input));
      over_tap_rows(a, pixel, [&](int64_t at, int64_t r, int64_t begin, int64_t numbers) {
        memcpy(to + r * from.apart + begin, x + at, size_t(numbers) * sizeof(Input));
      });
    };
    for (OutputPixel next = {0, 0, 0}; next.sample < a.samples; next.column = a.out_w - 1, next.advance(a)) {
      const int64_t top = next.row * a.stride - a.pad, q = (next.sample * a.out_h + next.row) * a.out_w;
      const bool inside = fits && top >= 0 && top + a.kernel <= a.height;
      // What is read behind an odd row would lie behind the last map.
      const bool last = own % 2 && top + a.kernel == a.height && next.sample + 1 == a.samples;
      const int64_t end = inside ? behind - (last && (behind - 1) * a.stride - a.pad + a.kernel == a.width) : 0;
      const int64_t start = ((next.sample * a.height + top) * a.width - a.pad) * a.channels;
      for (int64_t column = 0, count; column < a.out_w; column += count) {
        count = next_tile(a.out_w - column);
        place(x + start + column * step, step, count, from);
        if (column < first || column + count > end) {
          for (int64_t p = 0; p < count; ++p) {
            if (column + p >= first && column + p < end) continue;
            gather({next.sample, next.row, column + p}, inputs[p]);
            from.x[p] = inputs[p];
          }
          for (int64_t p = count; p < kMost; ++p) from.x[p] = from.x[0];
        }
        for (int64_t o = 0; o < a.outputs; o += kGroup) group(a, from, q + column, count, o, finish);
      }
    }
  }

  // Pixels that are not there are those that are.
  static void place(const Input* first, int64_t apart, int64_t count, Rows& rows) {
    for (int64_t p = 0; p < kMost; ++p) rows.x[p] = first + (p < count ? p : 0) * apart;
  }

  static void run_sums(const IntegerConvArgs& a) {
    PutSums put = {a};
    run(a, put);
  }

  // run(what takes sums to the affine's bytes); tells whether it was run.
  template <bool kPlain, bool kResidual, bool kTies, class Run>
  static bool finish_as(const AffineArgs& args, const AffineOfSums& affine, Run run) {
    PutBytes<kPlain, kResidual, kTies> put(args, affine);
    run(put);
    *args.saturated = add(*args.saturated, put.saturated());
    return true;
  }
  template <class Run>
  static bool finish_with(const AffineArgs& args, const AffineOfSums& affine, Run run) {
    if (!affine.fits) return false;
    if (args.residual && affine.plain) return finish_as<true, true, true>(args, affine, run);
    if (args.residual) return finish_as<false, true, true>(args, affine, run);
    if (affine.ties) return finish_as<false, false, true>(args, affine, run);
    if (affine.plain) return finish_as<true, false, false>(args, affine, run);
    return finish_as<false, false, false>(args, affine, run);
  }

  static void prepare(const IntegerConvArgs& a, const AffineArgs& args, AffineOfSums& affine) {
    const int64_t x = a.x_type == BR_INT8 ? absolute(a.x_zero) + 128 : 1 << 15, w = a.w_type == BR_INT8 ? 128 : 1 << 15;
    affine.prepare(args, row_of(a) * x * w, Order::pairs);
  }

  static bool run_affine(const IntegerConvArgs& a, const AffineArgs& args, const AffineOfSums& affine) {
    return finish_with(args, affine, [&](auto& put) { run(a, put); });
  }
};

// Pairs of 16-bit products; bytes are widened. Lanes: those of integer_conv_pairs.h, and store_two().
template <class PairLanes>
struct PairKind : PairLanes {
  using Vector = typename PairLanes::Vector;
  using Input = int16_t;
  using Weight = int16_t;
  static constexpr int kNumbers = 2;
  static constexpr bool kTaken = false, kDense = false;

  static int64_t taken(const IntegerConvArgs&, int64_t) { return 0; }
  static INLINE Vector load(const void* from) { return PairLanes::load(static_cast<const int32_t*>(from)); }
  static INLINE Vector spread(const int16_t* from) { return PairLanes::pair(from); }
  static INLINE void store(int32_t* to, Vector first, Vector second, int vectors) {
    if (vectors > 1) PairLanes::store_in_order(to, first, second);
    else PairLanes::store_in_order(to, first);
  }
  static void gather(const IntegerConvArgs& a, OutputPixel q, int16_t* to) { bitreplay::gather<int8_t>(a, q, to); }
  static const int16_t* dense(const IntegerConvArgs& a, int64_t q, int64_t count, int16_t* to) {
    widen_row(static_cast<const int8_t*>(a.x) + q * a.channels, count * a.channels, int16_t(a.x_zero), to);
    return to;
  }
};

// Bytes times bytes, four products a lane: with u = x + 128, which has no sign, sum (x - zero) w = sum u w -
// (128 + zero) sum w; outside the map x = zero. Modulo 2^32, as in integer_conv_pairs.h. QuadLanes: as PairLanes, with
// quad(from), which has u, instead of pair().
template <class QuadLanes>
struct QuadKind : QuadLanes {
  using Vector = typename QuadLanes::Vector;
  using Input = uint8_t;
  using Weight = int8_t;
  static constexpr int kNumbers = 4;
  static constexpr bool kTaken = true, kDense = true;

  static bool serves(const IntegerConvArgs& a) {
    const bool bytes = a.x_type == BR_INT8 && a.w_type == BR_INT8 && a.x_zero == int8_t(a.x_zero);
    if (!bytes || row_of(a) + 3 > kLongestRow || a.outputs <= QuadLanes::kLanes / 2) return false;
    return a.down <= 0 || row_of(a) * 256 * 128 < int64_t(1) << 31;
  }

  static int64_t taken(const IntegerConvArgs& a, int64_t sum) { return -(128 + a.x_zero) * sum; }
  static INLINE Vector load(const void* from) { return QuadLanes::load(static_cast<const int32_t*>(from)); }
  static INLINE Vector spread(const uint8_t* from) { return QuadLanes::quad(from); }
  static INLINE void store(int32_t* to, Vector first, Vector second, int vectors) {
    if (vectors > 1) QuadLanes::store_in_order(to, first, second);
    else QuadLanes::store_in_order(to, first);
  }
  static void gather(const IntegerConvArgs& a, OutputPixel q, uint8_t* to) {
    memset(to, int(a.x_zero), size_t(row_of(a) + 3));
    over_tap_rows(a, q, [&](int64_t at, int64_t row, int64_t first, int64_t numbers) {
      memcpy(to + row * a.kernel * a.channels + first, static_cast<const uint8_t*>(a.x) + at, size_t(numbers));
    });
  }
  static const uint8_t* dense(const IntegerConvArgs& a, int64_t q, int64_t, uint8_t*) {
    return static_cast<const uint8_t*>(a.x) + q * a.channels;
  }
};

// The convolutions of an instruction set from its kinds: quads of bytes where they serve, pairs where these do,
// and the wide lanes of integer_conv_pairs.h.
template <class PairLanes, class Quads>
struct TiledConv {
  using Pairs = Tiles<PairKind<PairLanes>>;

  static bool serves_pairs(const IntegerConvArgs& a) {
    return fits_pairs(a, PairLanes::kLanes) && a.outputs > PairLanes::kLanes / 2;
  }
  static uint64_t packed_weights_bytes(const IntegerConvArgs& a) {
    if (Quads::serves(a)) return Quads::packed_weights_bytes(a);
    return serves_pairs(a) ? Pairs::packed_weights_bytes(a) : wide_weights_bytes(a);
  }
  static void pack_weights(const IntegerConvArgs& a, uint8_t* packed_weights) {
    if (Quads::serves(a)) return Quads::pack_weights(a, packed_weights);
    if (serves_pairs(a)) return Pairs::pack_weights(a, packed_weights);
    pack_wide_weights(a, packed_weights);
  }
  static void run(const IntegerConvArgs& a) {
    if (Quads::serves(a)) return Quads::run_sums(a);
    if (serves_pairs(a)) return Pairs::run_sums(a);
    run_wide(a);
  }
  static uint64_t prepared_bytes(const IntegerConvArgs& a, const AffineArgs& args) {
    return a.down == 0 && (Quads::serves(a) || serves_pairs(a)) ? AffineOfSums::bytes(args.channels) : 0;
  }
  static void prepare(const IntegerConvArgs& a, const AffineArgs& args, uint8_t* prepared) {
    Pairs::prepare(a, args, *reinterpret_cast<AffineOfSums*>(prepared));
  }
  static bool run_affine(const IntegerConvArgs& a, const AffineArgs& args, const uint8_t* prepared) {
    if (prepared_bytes(a, args) == 0) return false;
    if (!prepared) return prepared_here(a, args);
    const AffineOfSums& affine = *reinterpret_cast<const AffineOfSums*>(prepared);
    return Quads::serves(a) ? Quads::run_affine(a, args, affine) : Pairs::run_affine(a, args, affine);
  }
  // Where a and b are not constant.
  static __attribute__((noinline)) bool prepared_here(const IntegerConvArgs& a, const AffineArgs& args) {
    alignas(64)
        uint8_t room[sizeof(AffineOfSums) + AffineOfSums::kMostChannels / kLanes * sizeof(AffineOfSums::Column)];
    prepare(a, args, room);
    return run_affine(a, args, room);
  }

  static constexpr IntegerConv table() {
    return {packed_weights_bytes, pack_weights, run, run_affine, prepared_bytes, prepare};
  }
};

}  // namespace
}  // namespace bitreplay

#undef INLINE
