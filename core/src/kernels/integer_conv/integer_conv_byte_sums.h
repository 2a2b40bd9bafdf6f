// Integer convolution of bytes by 1x1 windows on AVX2: products of bytes, added up in 16 bits as long as they fit.
//
// vpmaddubsw multiplies 32 bytes u without sign by bytes w, where vpmaddwd multiplies 16 words, and adds pairs of
// products in 16 bits. With u = x + 128 <= 255 nothing overflows where the positive weights of what is added come to
// 128 at most, and the negative ones too: 255 * 128 < 2^15. That is known when weights are packed.
//
// Quad     four neighbouring inputs by eight outputs: one vpmaddubsw, two pairs an output.
// Group    up to three quads, from anywhere in the row, whose products fit 16 bits together. They are brought to 32
//          bits once. Which quads go together is found for each eight outputs by first fit, the largest first: in
//          trained networks pairs of weights are mostly far below 128.
// Wide     a quad in which a pair alone does not fit: two vpmaddwd, its inputs as words.
//
// sum (x - zero) w = sum u w - (128 + zero) sum w, modulo 2^32, as in integer_conv_tiles.h, whose pairs of words take
// the layers in which they are quicker.
#pragma once
#include <immintrin.h>

#include "kernels/integer_conv/integer_conv_lanes_avx2.h"

#define INLINE __attribute__((always_inline)) inline

namespace bitreplay {
namespace {

struct ByteSums {
  using Pairs = Tiles<PairKind<PairLanes>>;
  using Vector = __m256i;
  static constexpr int kPixels = 9, kGroup = 3, kQuad = 4;
  static constexpr int64_t kApart = 1216;  // of the rows of two pixels: an odd number of cache lines
  static constexpr int64_t kMostQuads = kApart / kQuad, kBytes = 32, kLimit = 128;

  // Of eight outputs: behind it the offsets of its quads in a row, and their weights, 64-byte aligned. First groups of
  // three, then of two, of one, and the wide ones, with two vectors each.
  struct alignas(64) Column {
    int32_t taken[kLanes];
    int32_t groups[kGroup + 1];  // [n]: groups of n quads; [0]: wide quads
    int32_t bytes;               // of all
    static constexpr int64_t kOffsets = 64;

    const uint16_t* offsets() const { return reinterpret_cast<const uint16_t*>(this + 1); }
  };
  // In front of the columns, or of what Pairs have packed.
  struct alignas(64) Head {
    bool by_bytes;
  };

  static int64_t quads_of(const IntegerConvArgs& a) { return a.channels / kQuad; }
  static int64_t offset_bytes(int64_t quads) { return (2 * quads + 63) / 64 * 64; }

  static bool serves(const IntegerConvArgs& a) {
    return Pairs::is_dense(a) && a.channels % kQuad == 0 && a.channels <= kApart && a.w_type == BR_INT8 &&
           a.x_zero == int8_t(a.x_zero) && fits_pairs(a, kLanes) && a.outputs > kLanes / 2;
  }

  static uint64_t packed_weights_bytes(const IntegerConvArgs& a) {
    const int64_t column = int64_t(sizeof(Column)) + offset_bytes(quads_of(a)) + 2 * kBytes * quads_of(a);
    return sizeof(Head) + max_of(Pairs::packed_weights_bytes(a), uint64_t(Pairs::vectors_of(a) * column));
  }

  static void pack_weights(const IntegerConvArgs& a, uint8_t* packed_weights) {
    Head& head = *reinterpret_cast<Head*>(packed_weights);
    uint8_t* to = packed_weights + sizeof head;
    int64_t cost = Pairs::vectors_of(a) * kColumnCost;
    for (int64_t vector = 0; vector < Pairs::vectors_of(a); ++vector) to += pack_column(a, vector, to, &cost);
    head.by_bytes = cost < Pairs::vectors_of(a) * quads_of(a) * kPairsCost;
    if (!head.by_bytes) Pairs::pack_weights(a, packed_weights + sizeof head);
  }

  static void run_sums(const IntegerConvArgs& args) {
    IntegerConvArgs a = args;
    a.packed_weights += sizeof(Head);
    if (!by_bytes(args)) return Pairs::run_sums(a);
    Pairs::PutSums put = {a};
    run(a, put);
  }

  static bool run_affine(const IntegerConvArgs& args, const AffineArgs& affine_args, const AffineOfSums& affine) {
    IntegerConvArgs a = args;
    a.packed_weights += sizeof(Head);
    if (!by_bytes(args)) return Pairs::run_affine(a, affine_args, affine);
    return Pairs::finish_with(affine_args, affine, [&](auto& put) { run(a, put); });
  }

 private:
  // Inputs + 128 of some pixels.
  struct Rows {
    alignas(64) uint8_t bytes[kPixels * kApart];
    alignas(64) uint16_t words[kPixels * kApart];
  };

  // Costs by pixel and eight outputs, in quarters of a cycle of a core that starts two products a cycle: twice the
  // products of a wide quad or a group, and one more where words are multiplied, which reach 86 % of it; of a quad by
  // Pairs; and of a column beside its products. Where weights are large in many outputs at once, Pairs are quicker.
  static constexpr int64_t kGroupCost[kGroup + 1] = {5, 4, 6, 8}, kPairsCost = 5, kColumnCost = 4;

  static bool by_bytes(const IntegerConvArgs& a) { return reinterpret_cast<const Head*>(a.packed_weights)->by_bytes; }

  // The positive and the negative weights of each pair of a quad, 255 at most.
  static Vector loads_of(const int8_t (&w)[kLanes][kQuad]) {
    uint8_t load[2][kLanes * 2];
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int pair = 0; pair < 2; ++pair) {
        const int first = w[lane][2 * pair], second = w[lane][2 * pair + 1];
        load[0][2 * lane + pair] = uint8_t(max_of(first, 0) + max_of(second, 0));
        load[1][2 * lane + pair] = uint8_t(min_of(max_of(-first, 0) + max_of(-second, 0), 255));
      }
    }
    return _mm256_loadu_si256(reinterpret_cast<const Vector*>(load));
  }
  static bool fits(Vector load) {
    const Vector limit = _mm256_set1_epi8(int8_t(uint8_t(kLimit)));
    return _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(load, limit), limit)) == -1;
  }
  static int largest(Vector load) {
    uint8_t each[kBytes];
    _mm256_storeu_si256(reinterpret_cast<Vector*>(each), load);
    int most = 0;
    for (uint8_t one : each) most = max_of(most, int(one));
    return most;
  }

  struct Group {
    Vector load;
    int16_t quads[kGroup];
    int16_t count;
  };

  // Returns its bytes.
  static int64_t pack_column(const IntegerConvArgs& a, int64_t vector, uint8_t* to, int64_t* cost) {
    const int64_t quads = quads_of(a);
    alignas(64) int8_t w[kMostQuads][kLanes][kQuad];
    Column& column = *reinterpret_cast<Column*>(to);
    column = {};
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const int64_t o = channel_in(Order::pairs, a.outputs, vector, lane);
      int64_t sum = 0;
      for (int64_t k = 0; k < a.channels; ++k) {
        const int8_t value = o < a.outputs ? static_cast<const int8_t*>(a.w)[o * a.channels + k] : int8_t(0);
        w[k / kQuad][lane][k % kQuad] = value;
        sum += value;
      }
      column.taken[lane] = int32_t(-(128 + a.x_zero) * sum);
    }
    Group groups[kMostQuads];
    int16_t wide[kMostQuads];
    const int64_t count = group(w, quads, groups, wide, &column.groups[0]);
    uint16_t* offset = reinterpret_cast<uint16_t*>(to + sizeof(Column));
    Vector* weights = reinterpret_cast<Vector*>(to + sizeof(Column) + offset_bytes(quads));
    for (int16_t size = kGroup; size > 0; --size) {
      for (int64_t g = 0; g < count; ++g) {
        if (groups[g].count != size) continue;
        ++column.groups[size];
        for (int16_t q = 0; q < size; ++q) {
          *offset++ = uint16_t(kQuad * groups[g].quads[q]);
          *weights++ = _mm256_load_si256(reinterpret_cast<const Vector*>(w[groups[g].quads[q]]));
        }
      }
    }
    for (int32_t i = 0; i < column.groups[0]; ++i) {
      *offset++ = uint16_t(kQuad * wide[i]);
      const Vector both = _mm256_load_si256(reinterpret_cast<const Vector*>(w[wide[i]]));
      const Vector even = _mm256_srai_epi16(_mm256_slli_epi16(both, 8), 8), odd = _mm256_srai_epi16(both, 8);
      // Words of inputs 0 and 2, and of 1 and 3, become those of 0 and 1, and of 2 and 3.
      *weights++ = _mm256_blend_epi16(even, _mm256_slli_epi32(odd, 16), 0xAA);
      *weights++ = _mm256_blend_epi16(_mm256_srli_epi32(even, 16), odd, 0xAA);
    }
    for (int size = 0; size <= kGroup; ++size) *cost += kGroupCost[size] * column.groups[size];
    column.bytes = int32_t((reinterpret_cast<uint8_t*>(weights) - to + 63) / 64 * 64);
    return column.bytes;
  }

  // Finds groups, and the wide quads; tells how many.
  static int64_t group(const int8_t (&w)[kMostQuads][kLanes][kQuad], int64_t quads, Group* groups, int16_t* wide,
                       int32_t* wide_count) {
    Vector loads[kMostQuads];
    int16_t in_order[kMostQuads], begin[kLimit + 2] = {};  // quads from the largest on
    int level[kMostQuads];
    for (int64_t q = 0; q < quads; ++q) {
      loads[q] = loads_of(w[q]);
      level[q] = int(kLimit) - largest(loads[q]);
      if (level[q] >= 0) ++begin[level[q] + 1];
      else wide[(*wide_count)++] = int16_t(q);
    }
    for (int64_t i = 0; i < kLimit; ++i) begin[i + 1] = int16_t(begin[i + 1] + begin[i]);
    for (int64_t q = 0; q < quads; ++q)
      if (level[q] >= 0) in_order[begin[level[q]]++] = int16_t(q);
    int64_t count = 0, open = 0;  // groups before `open` are full
    for (int64_t i = 0; i < quads - *wide_count; ++i) {
      const int16_t q = in_order[i];
      int64_t g = open;
      while (g < count && (groups[g].count == kGroup || !fits(_mm256_adds_epu8(groups[g].load, loads[q])))) ++g;
      if (g == count) groups[count++] = {_mm256_setzero_si256(), {}, 0};
      groups[g].load = _mm256_adds_epu8(groups[g].load, loads[q]);
      groups[g].quads[groups[g].count++] = q;
      while (open < count && groups[open].count == kGroup) ++open;
    }
    return count;
  }

  static INLINE Vector spread(const void* from) {
    int32_t all;
    memcpy(&all, from, sizeof all);
    return _mm256_set1_epi32(all);
  }

  template <int kQuads, int kCount>
  static INLINE void add_groups(int32_t groups, const uint16_t*& at, const Vector*& w, const uint8_t* x,
                                Vector (&sums)[kCount]) {
    Vector ones = _mm256_set1_epi16(1);
    asm("" : "+x"(ones));  // in a register
    for (; groups > 0; --groups, at += kQuads, w += kQuads) {
      const uint8_t* from[kQuads];
      Vector weights[kQuads];
#pragma GCC unroll 3
      for (int q = 0; q < kQuads; ++q) from[q] = x + at[q], weights[q] = _mm256_load_si256(w + q);
#pragma GCC unroll 9
      for (int p = 0; p < kCount; ++p) {
        Vector sum = _mm256_maddubs_epi16(spread(from[0] + p * kApart), weights[0]);
#pragma GCC unroll 3
        for (int q = 1; q < kQuads; ++q)
          sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(spread(from[q] + p * kApart), weights[q]));
        sums[p] = _mm256_add_epi32(sums[p], _mm256_madd_epi16(sum, ones));
      }
    }
  }

  template <int kCount>
  static INLINE void add_wide(int32_t quads, const uint16_t* at, const Vector* w, const uint16_t* x,
                              Vector (&sums)[kCount]) {
    for (; quads > 0; --quads, ++at, w += 2) {
      const uint16_t* from = x + *at;
      const Vector first = _mm256_load_si256(w), second = _mm256_load_si256(w + 1);
#pragma GCC unroll 9
      for (int p = 0; p < kCount; ++p) {
        sums[p] = _mm256_add_epi32(sums[p], _mm256_madd_epi16(spread(from + p * kApart), first));
        sums[p] = _mm256_add_epi32(sums[p], _mm256_madd_epi16(spread(from + p * kApart + 2), second));
      }
    }
  }

  // The sums of eight outputs of kCount pixels, which lie `apart` vectors from one another.
  template <int kCount>
  static __attribute__((noinline)) void fill(const Column& column, int64_t quads, const Rows& x, Vector* to,
                                             int64_t apart) {
    Vector sums[kCount];
#pragma GCC unroll 9
    for (int p = 0; p < kCount; ++p) sums[p] = _mm256_load_si256(reinterpret_cast<const Vector*>(column.taken));
    const uint16_t* at = column.offsets();
    const Vector* w = reinterpret_cast<const Vector*>(reinterpret_cast<const uint8_t*>(at) + offset_bytes(quads));
    add_groups<3>(column.groups[3], at, w, x.bytes, sums);
    add_groups<2>(column.groups[2], at, w, x.bytes, sums);
    add_groups<1>(column.groups[1], at, w, x.bytes, sums);
    add_wide(column.groups[0], at, w, x.words, sums);
#pragma GCC unroll 9
    for (int p = 0; p < kCount; ++p) _mm256_store_si256(to + p * apart, sums[p]);
  }

  template <int kCount, class Finish>
  static void tile(const IntegerConvArgs& a, const Rows& x, int64_t q, int64_t pixels, Finish& finish) {
    const int64_t quads = quads_of(a);
    const uint8_t* packed = a.packed_weights;
    const auto next = [&]() -> const Column& {
      const Column& own = *reinterpret_cast<const Column*>(packed);
      packed += own.bytes;
      return own;
    };
    for (int64_t output = 0; output < a.outputs; output += 2 * kLanes) {
      if (a.outputs - output > kLanes) {
        Vector sums[kCount][2];
        fill<kCount>(next(), quads, x, &sums[0][0], 2);
        fill<kCount>(next(), quads, x, &sums[0][1], 2);
        finish.put(q, pixels, output, sums);
      } else {
        Vector sums[kCount][1];
        fill<kCount>(next(), quads, x, &sums[0][0], 1);
        finish.put(q, pixels, output, sums);
      }
    }
  }

  template <class Finish>
  static void run(const IntegerConvArgs& a, Finish& finish) {
    Rows x;
    const int64_t all = a.samples * a.out_h * a.out_w;
    for (int64_t q = 0, pixels; q < all; q += pixels) {
      pixels = min_of(kPixels, all - q);
      for (int64_t p = 0; p < kPixels; ++p) {
        const int8_t* from = static_cast<const int8_t*>(a.x) + (q + min_of(p, pixels - 1)) * a.channels;
        uint8_t* bytes = x.bytes + p * kApart;
        uint16_t* words = x.words + p * kApart;
        for (int64_t k = 0; k < a.channels; ++k) bytes[k] = uint8_t(from[k] + 128), words[k] = bytes[k];
      }
      if (pixels <= 3) tile<3>(a, x, q, pixels, finish);
      else if (pixels <= 6) tile<6>(a, x, q, pixels, finish);
      else tile<9>(a, x, q, pixels, finish);
    }
  }
};

}  // namespace
}  // namespace bitreplay

#undef INLINE
