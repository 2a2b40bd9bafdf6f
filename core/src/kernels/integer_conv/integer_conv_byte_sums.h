// Integer convolution of bytes by 1x1 windows on AVX2: products of bytes, added up in 16 bits as long as they fit.
//
// vpmaddubsw multiplies 32 bytes u without sign by bytes w, where vpmaddwd multiplies 16 words, and adds pairs of
// products in 16 bits. With u = x + 128 <= 255 nothing overflows where the positive weights of what is added come to
// 128 at most, and the negative ones too: 255 * 128 < 2^15. That is known when weights are packed.
//
// Quad     four neighbouring inputs by eight outputs: one vpmaddubsw, two pairs an output.
// Flipped  inputs as 255 - u, with weights of the other sign: what two weights of one sign make too large, two of
//          different signs do not. Rows hold each quad with its second and its fourth input as they are or flipped, in
//          the four ways where there is room, else both or none; a quad takes the way that leaves its sums smallest.
// Group    up to three quads, from anywhere in the row, whose products fit 16 bits together. They are brought to 32
//          bits once. Which quads go together is found for each eight outputs by first fit, the largest first: in
//          trained networks pairs of weights are mostly far below 128.
// Wide     a quad in which a pair alone does not fit: two vpmaddwd, its inputs as words.
//
// sum (x - zero) w = sum u w - (128 + zero) sum w, where u w = 255 w - (255 - u) w, modulo 2^32, as in
// integer_conv_tiles.h, whose pairs of words take the layers in which they are quicker.
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
  static constexpr int64_t kMostChannels = 1216, kMostQuads = kMostChannels / kQuad, kBytes = 32, kLimit = 128;
  static constexpr int64_t kApart = 2 * kMostChannels + 64;  // of the bytes of two pixels: an odd number of cache lines

  // Of eight outputs: behind it the offsets of its quads in a row, and their weights, 64-byte aligned. First groups of
  // three, then of two, of one, and the wide ones, with two vectors each.
  struct alignas(64) Column {
    int32_t taken[kLanes];
    int32_t groups[kGroup + 1];  // [n]: groups of n quads; [0]: wide quads
    int32_t bytes;               // of all

    const uint16_t* offsets() const { return reinterpret_cast<const uint16_t*>(this + 1); }
  };
  // In front of the columns, or of what Pairs have packed.
  struct alignas(64) Head {
    bool by_bytes, wide;  // wide: whether there are any
  };

  static int64_t quads_of(const IntegerConvArgs& a) { return a.channels / kQuad; }
  static int64_t offset_bytes(int64_t quads) { return (2 * quads + 63) / 64 * 64; }

  static bool serves(const IntegerConvArgs& a) {
    return Pairs::is_dense(a) && a.channels % kQuad == 0 && a.channels <= kMostChannels && a.w_type == BR_INT8 &&
           a.x_zero == int8_t(a.x_zero) && fits_pairs(a, kLanes) && a.outputs > kLanes / 2;
  }

  static uint64_t packed_weights_bytes(const IntegerConvArgs& a) {
    const int64_t column = int64_t(sizeof(Column)) + offset_bytes(quads_of(a)) + 2 * kBytes * quads_of(a);
    return sizeof(Head) + max_of(Pairs::packed_weights_bytes(a), uint64_t(Pairs::vectors_of(a) * column));
  }

  static void pack_weights(const IntegerConvArgs& a, uint8_t* packed_weights) {
    Head& head = *reinterpret_cast<Head*>(packed_weights);
    uint8_t* to = packed_weights + sizeof head;
    int64_t cost = Pairs::vectors_of(a) * kColumnCost + ways_of(a) * quads_of(a) * kWayCost;
    head.wide = false;
    for (int64_t vector = 0; vector < Pairs::vectors_of(a); ++vector) {
      const Column& column = *reinterpret_cast<const Column*>(to);
      to += pack_column(a, vector, to, &cost);
      head.wide = head.wide || column.groups[0];
    }
    head.by_bytes = cost < Pairs::vectors_of(a) * quads_of(a) * kPairsCost;
    if (!head.by_bytes) Pairs::pack_weights(a, packed_weights + sizeof head);
  }

  static void run_sums(const IntegerConvArgs& args) {
    IntegerConvArgs a = args;
    a.packed_weights += sizeof(Head);
    if (!head_of(args).by_bytes) return Pairs::run_sums(a);
    Pairs::PutSums put = {a};
    run(a, head_of(args).wide, put);
  }

  static bool run_affine(const IntegerConvArgs& args, const AffineArgs& affine_args, const AffineOfSums& affine) {
    IntegerConvArgs a = args;
    a.packed_weights += sizeof(Head);
    if (!head_of(args).by_bytes) return Pairs::run_affine(a, affine_args, affine);
    return Pairs::finish_with(affine_args, affine, [&](auto& put) { run(a, head_of(args).wide, put); });
  }

 private:
  // Inputs + 128 of some pixels; bytes in all ways, one behind the other.
  struct Rows {
    alignas(64) uint8_t bytes[kPixels * kApart];
    alignas(64) uint16_t words[kPixels * kMostChannels];
  };

  // Costs by pixel and eight outputs, in quarters of a cycle of a core that starts two products a cycle: twice the
  // products of a wide quad or a group, and one more where words are multiplied, which reach 86 % of it; of a quad by
  // Pairs; of a column beside its products; and of a quad in one way, for all outputs. Where weights are large in many
  // outputs at once, Pairs are quicker.
  static constexpr int64_t kGroupCost[kGroup + 1] = {5, 4, 6, 8}, kPairsCost = 5, kColumnCost = 4, kWayCost = 2;

  static const Head& head_of(const IntegerConvArgs& a) { return *reinterpret_cast<const Head*>(a.packed_weights); }

  // Which inputs are flipped, one bit each, in way number `way` of so many.
  static int64_t ways_of(const IntegerConvArgs& a) { return 4 * a.channels <= kApart && a.outputs > 32 ? 4 : 2; }
  static int flips_of(int64_t ways, int64_t way) { return int(ways == 4 ? way : 3 * way); }
  static uint32_t flipped(int flips) { return (flips & 1 ? 0xFF00u : 0) | (flips & 2 ? 0xFF000000u : 0); }

  // A quad's weights, and of each of its pairs in each output the sums of the positive and of the negative ones, 255 at
  // most: two bytes each, of its first two inputs and of its others.
  struct Quad {
    Vector w, load;
    int way = 0;

    explicit Quad(Vector weights) : w(weights), load(load_of(weights)) {}
    // In the way that makes the largest load smallest. -128 has no other sign.
    Quad(Vector weights, int64_t ways) : Quad(weights) {
      for (int64_t other = 1; other < ways; ++other) {
        const int flips = flips_of(ways, other);
        const Vector of = _mm256_set1_epi32(int32_t(flipped(flips)));
        const Vector least = _mm256_cmpeq_epi8(weights, _mm256_set1_epi8(-128));
        if (!_mm256_testz_si256(_mm256_and_si256(least, of), of)) continue;
        Quad turned(_mm256_sub_epi8(_mm256_xor_si256(weights, of), of));
        if (turned.largest() >= largest()) continue;
        *this = turned, way = int(other);
      }
    }

    static Vector load_of(Vector w) {
      const Vector none = _mm256_setzero_si256(), one = _mm256_set1_epi8(1);
      const Vector positive = _mm256_maddubs_epi16(_mm256_max_epi8(w, none), one);
      const Vector negative = _mm256_maddubs_epi16(_mm256_sub_epi8(none, _mm256_min_epi8(w, none)), one);
      return _mm256_packus_epi16(positive, negative);
    }
    int largest() const {
      const Vector words = _mm256_max_epu16(_mm256_and_si256(load, _mm256_set1_epi16(255)), _mm256_srli_epi16(load, 8));
      const __m128i eight = _mm_max_epu16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
      return 255 - (_mm_cvtsi128_si32(_mm_minpos_epu16(_mm_sub_epi16(_mm_set1_epi16(255), eight))) & 0xFFFF);
    }
  };
  static bool fits(Vector load) {
    const Vector limit = _mm256_set1_epi8(int8_t(uint8_t(kLimit)));
    return _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(load, limit), limit)) == -1;
  }

  struct Group {
    Vector load;
    int16_t quads[kGroup];
    int16_t count;
  };

  // Returns its bytes.
  static int64_t pack_column(const IntegerConvArgs& a, int64_t vector, uint8_t* to, int64_t* cost) {
    const int64_t quads = quads_of(a), ways = ways_of(a);
    alignas(32) int8_t w[kMostQuads][kLanes][kQuad];
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
    Vector loads[kMostQuads];
    int level[kMostQuads];
    uint16_t offsets[kMostQuads];
    for (int64_t q = 0; q < quads; ++q) {
      const Quad plain(_mm256_load_si256(reinterpret_cast<const Vector*>(w[q]))), quad(plain.w, ways);
      const bool fit = quad.largest() <= kLimit;
      loads[q] = quad.load, level[q] = int(kLimit) - quad.largest();
      offsets[q] = uint16_t(kQuad * q + (fit ? quad.way * a.channels : 0));
      if (!fit || quad.way == 0) continue;
      const int flips = flips_of(ways, quad.way);
      for (int64_t lane = 0; lane < kLanes; ++lane)
        column.taken[lane] += 255 * ((flips & 1) * w[q][lane][1] + (flips >> 1) * w[q][lane][3]);
      _mm256_store_si256(reinterpret_cast<Vector*>(w[q]), quad.w);
    }
    Group groups[kMostQuads];
    int16_t wide[kMostQuads];
    const int64_t count = group(loads, level, quads, groups, wide, &column.groups[0]);
    uint16_t* offset = reinterpret_cast<uint16_t*>(to + sizeof(Column));
    Vector* weights = reinterpret_cast<Vector*>(to + sizeof(Column) + offset_bytes(quads));
    for (int16_t size = kGroup; size > 0; --size) {
      for (int64_t g = 0; g < count; ++g) {
        if (groups[g].count != size) continue;
        ++column.groups[size];
        for (int16_t q = 0; q < size; ++q) {
          *offset++ = offsets[groups[g].quads[q]];
          *weights++ = _mm256_load_si256(reinterpret_cast<const Vector*>(w[groups[g].quads[q]]));
        }
      }
    }
    for (int32_t i = 0; i < column.groups[0]; ++i) {
      *offset++ = offsets[wide[i]];
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

  // Finds groups, and the wide quads, whose level is below 0; tells how many.
  static int64_t group(const Vector* loads, const int* level, int64_t quads, Group* groups, int16_t* wide,
                       int32_t* wide_count) {
    int16_t in_order[kMostQuads], begin[kLimit + 2] = {};  // quads from the largest on
    for (int64_t q = 0; q < quads; ++q) {
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
        sums[p] = _mm256_add_epi32(sums[p], _mm256_madd_epi16(spread(from + p * kMostChannels), first));
        sums[p] = _mm256_add_epi32(sums[p], _mm256_madd_epi16(spread(from + p * kMostChannels + 2), second));
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

  // 32 at a time; the last 32 may meet those before. Where there are fewer, what stands behind a way is the next one's.
  static void fill_rows(const int8_t* from, int64_t channels, int64_t ways, bool wide, uint8_t* bytes,
                        uint16_t* words) {
    alignas(32) int8_t few[kBytes] = {};
    const int64_t last = max_of(channels - kBytes, 0);
    if (channels < kBytes) from = static_cast<int8_t*>(memcpy(few, from, size_t(channels)));
    Vector change[4];
    for (int64_t way = 0; way < ways; ++way)
      change[way] = _mm256_set1_epi32(int32_t(0x80808080u ^ flipped(flips_of(ways, way))));
    for (int64_t next = 0; next < channels; next += kBytes) {
      const int64_t k = min_of(next, last);
      const Vector some = _mm256_loadu_si256(reinterpret_cast<const Vector*>(from + k));
      for (int64_t way = 0; way < ways; ++way) store(bytes + way * channels + k, _mm256_xor_si256(some, change[way]));
      if (!wide) continue;
      const Vector plain = _mm256_xor_si256(some, change[0]);
      store(words + k, _mm256_cvtepu8_epi16(_mm256_castsi256_si128(plain)));
      store(words + k + kBytes / 2, _mm256_cvtepu8_epi16(_mm256_extracti128_si256(plain, 1)));
    }
  }
  static void store(void* to, Vector x) { _mm256_storeu_si256(static_cast<Vector*>(to), x); }

  template <class Finish>
  static void run(const IntegerConvArgs& a, bool wide, Finish& finish) {
    Rows x;
    const int64_t all = a.samples * a.out_h * a.out_w;
    const int64_t tiles = (all + kPixels - 1) / kPixels;
    for (int64_t q = 0, pixels, left = tiles; q < all; q += pixels, --left) {
      pixels = (all - q + left - 1) / left;  // as many in each tile as in the next, or one more
      for (int64_t p = 0; p < kPixels; ++p)
        fill_rows(static_cast<const int8_t*>(a.x) + (q + min_of(p, pixels - 1)) * a.channels, a.channels, ways_of(a),
                  wide, x.bytes + p * kApart, x.words + p * kMostChannels);
      if (pixels <= 3) tile<3>(a, x, q, pixels, finish);
      else if (pixels <= 6) tile<6>(a, x, q, pixels, finish);
      else if (pixels <= 8) tile<8>(a, x, q, pixels, finish);
      else tile<9>(a, x, q, pixels, finish);
    }
  }
};

}  // namespace
}  // namespace bitreplay

#undef INLINE
