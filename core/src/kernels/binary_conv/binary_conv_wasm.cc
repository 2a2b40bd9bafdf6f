// Four outputs at two places, as two vectors of two words each (binary_conv_prefixes.h): V8 makes i8x16.popcnt of some
// eight instructions, of which half as many are needed as by counting every word.
#include <wasm_simd128.h>

#include "kernels/binary_conv/binary_conv_prefixes.h"

namespace bitreplay {
namespace {

constexpr int64_t kPairsBeforeSum = 15;  // 15 steps that add are at most 120, 16 that take at least -128

// Four outputs at one place. Fields, not arrays, which compilers would keep in memory.
struct Place {
  v128_t counts, more, last, more_last;  // bytes and words
  v128_t sums, more_sums;                // of 16 bits

  INLINE void none() { counts = more = wasm_i8x16_const_splat(0); }
  INLINE void begin(v128_t front, v128_t back) {
    none();
    sums = more_sums = wasm_i16x8_const_splat(0);
    last = front, more_last = back;
  }
  template <bool kAdds>
  INLINE void step(v128_t even, v128_t odd, const uint64_t* w) {
    const auto carried = [&](v128_t own, v128_t& before, const uint64_t* from) INLINE {
      const v128_t next = wasm_v128_xor(odd, wasm_v128_load(from + kOutputs));
      const v128_t bits =
          wasm_i8x16_popcnt(wasm_v128_bitselect(next, before, wasm_v128_xor(even, wasm_v128_load(from))));
      before = next;
      return kAdds ? wasm_i8x16_add(own, bits) : wasm_i8x16_sub(own, bits);
    };
    counts = carried(counts, last, w);
    more = carried(more, more_last, w + 2);
  }
  INLINE void sum_up() {
    sums = wasm_i16x8_add(sums, wasm_i16x8_extadd_pairwise_i8x16(counts));
    more_sums = wasm_i16x8_add(more_sums, wasm_i16x8_extadd_pairwise_i8x16(more));
    none();
  }
  // 2 counts + bits of the last words, as four numbers of 32 bits.
  INLINE v128_t total() const {
    const auto halves = [](v128_t own, v128_t word) INLINE {
      const v128_t bits = wasm_i16x8_extadd_pairwise_i8x16(wasm_i8x16_popcnt(word));
      return wasm_i32x4_extadd_pairwise_i16x8(wasm_i16x8_add(wasm_i16x8_add(own, own), bits));
    };
    const v128_t front = halves(sums, last), back = halves(more_sums, more_last);
    return wasm_i32x4_add(wasm_i32x4_shuffle(front, back, 0, 2, 4, 6), wasm_i32x4_shuffle(front, back, 1, 3, 5, 7));
  }
};

template <bool kAdds>
INLINE inline void both(Place& p, Place& q, const uint64_t*& x, const uint64_t*& w) {
  p.step<kAdds>(wasm_v128_load(x), wasm_v128_load(x + kInputWords), w);
  q.step<kAdds>(wasm_v128_load(x + 2), wasm_v128_load(x + kInputWords + 2), w);
  x += 2 * kInputWords, w += 2 * kOutputs;
}

INLINE inline void two_places(const uint64_t* x, const uint64_t* w, const Row& row, int64_t constant, int16_t* to,
                              int64_t apart) {
  Place p, q;
  if (row.words % 2) {
    const v128_t front = wasm_v128_load(w), back = wasm_v128_load(w + 2);
    const v128_t one = wasm_v128_load(x), other = wasm_v128_load(x + 2);
    p.begin(wasm_v128_xor(one, front), wasm_v128_xor(one, back));
    q.begin(wasm_v128_xor(other, front), wasm_v128_xor(other, back));
    x += kInputWords, w += kOutputs;
  } else {
    const v128_t start = wasm_i8x16_splat(int8_t(-(row.steps % 2)));
    p.begin(start, start), q.begin(start, start);
  }
  if (row.steps % 2) both<false>(p, q, x, w);
  int64_t left = row.steps / 2;
  do {
    const int64_t next = left < kPairsBeforeSum ? left : kPairsBeforeSum;
    for (int64_t i = 0; i < next; ++i) both<true>(p, q, x, w), both<false>(p, q, x, w);
    p.sum_up(), q.sum_up();
    left -= next;
  } while (left > 0);
  const v128_t doubled = wasm_i16x8_narrow_i32x4(p.total(), q.total());
  const v128_t sums = wasm_i16x8_sub(wasm_i16x8_splat(int16_t(constant)), wasm_i16x8_shl(doubled, 1));
  wasm_v128_store64_lane(to, sums, 0);
  wasm_v128_store64_lane(to + apart, sums, 1);
}

void tiles(const uint64_t* x, const uint64_t* w, Row row, int64_t constant, int64_t count, int16_t* to, int64_t apart) {
  for (; count > 0; --count, x += kInputWords * row.words, to += kPlaces * apart) {
    two_places(x, w, row, constant, to, apart);
    two_places(x + 4, w, row, constant, to + 2 * apart, apart);
  }
}

// Longer rows are the scalar kernel's.
uint64_t packed_weights_bytes(const BinaryConvArgs& a) {
  return Row(a).fits() ? prefixed_bytes(a) : interleaved_bytes(a);
}

void pack_weights(const BinaryConvArgs& a, uint8_t* packed_weights) {
  Row(a).fits() ? pack_prefixes(a, packed_weights) : interleave_outputs(a, packed_weights);
}

void run(const BinaryConvArgs& a) {
  const Row row(a);
  row.fits() ? run_prefixes(a, row, tiles) : binary_conv_scalar(a);
}

}  // namespace

extern const BinaryConv kBinaryConvWasm = {run, packed_weights_bytes, pack_weights};

}  // namespace bitreplay
