// Four outputs at four places, as two vectors of two words each: counts and the last word of the chain stay in 16
// registers (binary_conv_prefixes.h). Bound: 88 instructions for 64 times 4 times 4 times 4 products.
#include <arm_neon.h>

#include "kernels/binary_conv/binary_conv_prefixes.h"

namespace bitreplay {
namespace {

constexpr int64_t kPairsBeforeSum = 6;  // 7 steps of one kind are at most 56, two bytes of them 112
constexpr int64_t kFewSteps = 4;        // of windows of 3x3 and one word

// Four outputs at one place. Fields, not arrays, which compilers would keep in memory.
struct Place {
  int8x16_t counts, more;
  uint8x16_t last, more_last;

  INLINE void none() { counts = more = vdupq_n_s8(0); }
  INLINE void begin(uint8x16_t front, uint8x16_t back) { last = front, more_last = back; }
  // Four outputs, of four bytes each.
  INLINE int8x16_t joined() const { return vpaddq_s8(counts, more); }
  INLINE int8x16_t bits() const { return vreinterpretq_s8_u8(vpaddq_u8(vcntq_u8(last), vcntq_u8(more_last))); }
  // 2 counts + bits of the last words, in bytes: few steps are at most 2 * 32 + 16 and at least -2 * 32.
  INLINE int8x16_t few() const { return vmlaq_s8(bits(), joined(), vdupq_n_s8(2)); }
};

// Two words of two places.
struct Inputs {
  uint8x16_t x0, x1, y0, y1;

  INLINE explicit Inputs(const uint8_t* from)
      : x0(vld1q_u8(from)), x1(vld1q_u8(from + 16)), y0(vld1q_u8(from + 64)), y1(vld1q_u8(from + 80)) {}
};

// A step of two places side by side, since a Cortex-A53 waits for each operation in turn. As text: compilers would
// mix the steps of all places and run out of registers. kTurn: what becomes of the carries, "add" or "sub"; none: they
// are the first.
#define CARRIES                                                                    \
  "eor %[a].16b, %[y0].16b, %[w2].16b\n\teor %[b].16b, %[y1].16b, %[w2].16b\n\t"   \
  "eor %[y0].16b, %[y0].16b, %[w3].16b\n\teor %[y1].16b, %[y1].16b, %[w3].16b\n\t" \
  "eor %[c].16b, %[x0].16b, %[w0].16b\n\teor %[d].16b, %[x1].16b, %[w0].16b\n\t"   \
  "eor %[x0].16b, %[x0].16b, %[w1].16b\n\teor %[x1].16b, %[x1].16b, %[w1].16b\n\t" \
  "bsl %[c].16b, %[a].16b, %[l0].16b\n\tbsl %[d].16b, %[b].16b, %[l2].16b\n\t"     \
  "bsl %[x0].16b, %[y0].16b, %[l1].16b\n\tbsl %[x1].16b, %[y1].16b, %[l3].16b\n\t" \
  "cnt %[c].16b, %[c].16b\n\tcnt %[d].16b, %[d].16b\n\t"                           \
  "cnt %[x0].16b, %[x0].16b\n\tcnt %[x1].16b, %[x1].16b\n\t"
#define RESULTS                                                                                                    \
  [a] "=&w"(a), [b] "=&w"(b), [c] "=&w"(c), [d] "=&w"(d), [x0] "+&w"(in.x0), [x1] "+&w"(in.x1), [y0] "+&w"(in.y0), \
      [y1] "+&w"(in.y1)
#define OPERANDS                                                                                      \
  [w0] "w"(w.val[0]), [w1] "w"(w.val[1]), [w2] "w"(w.val[2]), [w3] "w"(w.val[3]), [l0] "w"(one.last), \
      [l1] "w"(one.more_last), [l2] "w"(other.last), [l3] "w"(other.more_last)
#define STEP(kTurn)                                                                                                  \
  asm volatile(CARRIES kTurn " %[c0].16b, %[c0].16b, %[c].16b\n\t" kTurn " %[c2].16b, %[c2].16b, %[d].16b\n\t" kTurn \
                             " %[c1].16b, %[c1].16b, %[x0].16b\n\t" kTurn " %[c3].16b, %[c3].16b, %[x1].16b"         \
               : RESULTS, [c0] "+w"(one.counts), [c1] "+w"(one.more), [c2] "+w"(other.counts), [c3] "+w"(other.more) \
               : OPERANDS)

enum class Turn { first, add, take };

template <Turn kTurn>
INLINE inline void step(Place& one, Place& other, Inputs in, const uint8x16x4_t& w) {
  uint8x16_t a, b, c, d;
  if constexpr (kTurn == Turn::add) STEP("add");
  if constexpr (kTurn == Turn::take) STEP("sub");
  if constexpr (kTurn == Turn::first) {
    asm volatile(CARRIES:RESULTS : OPERANDS);
    one.counts = vreinterpretq_s8_u8(c), one.more = vreinterpretq_s8_u8(in.x0);
    other.counts = vreinterpretq_s8_u8(d), other.more = vreinterpretq_s8_u8(in.x1);
  }
  one.last = a, one.more_last = in.y0, other.last = b, other.more_last = in.y1;
}

struct Tile {
  const uint8_t *x, *w;
  Place p, q, r, s;

  // Before each load: what comes later is not loaded before the steps that stand before it.
  INLINE void wait() { asm volatile("" : "+r"(x), "+r"(w)); }
  INLINE uint8x16x4_t weights() {
    wait();
    w += 16 * kOutputs;
    return vld1q_u8_x4(w - 16 * kOutputs);
  }
  // The second of two steps goes the other way, so that the words `last` take the registers of those before them.
  template <Turn kTurn = Turn::add>
  INLINE void forth() {
    const uint8x16x4_t own = weights();
    step<kTurn>(p, q, Inputs(x), own);
    wait();
    step<kTurn>(r, s, Inputs(x + 32), own);
    x += 128;
  }
  INLINE void back() {
    const uint8x16x4_t own = weights();
    step<Turn::take>(r, s, Inputs(x + 32), own);
    wait();
    step<Turn::take>(p, q, Inputs(x), own);
    x += 128;
  }
  INLINE void none() { p.none(), q.none(), r.none(), s.none(); }
  INLINE Tile(const uint64_t* inputs, const uint64_t* from, const Row& row)
      : x(reinterpret_cast<const uint8_t*>(inputs)), w(reinterpret_cast<const uint8_t*>(from)) {
    if (row.words % 2 == 0) {
      const uint8x16_t start = vdupq_n_u8(uint8_t(-(row.steps % 2)));
      p.begin(start, start), q.begin(start, start), r.begin(start, start), s.begin(start, start);
      return;
    }
    const uint8x16x4_t places = vld1q_u8_x4(x);
    const uint8x16_t front = vld1q_u8(w), back = vld1q_u8(w + 16);
    x += 64, w += 32;
    p.begin(veorq_u8(places.val[0], front), veorq_u8(places.val[0], back));
    q.begin(veorq_u8(places.val[1], front), veorq_u8(places.val[1], back));
    r.begin(veorq_u8(places.val[2], front), veorq_u8(places.val[2], back));
    s.begin(veorq_u8(places.val[3], front), veorq_u8(places.val[3], back));
  }
};

// Four outputs at two places each.
INLINE inline int16x8_t narrowed(int8x16_t front, int8x16_t back) {
  return vpaddq_s16(vpaddlq_s8(front), vpaddlq_s8(back));
}

INLINE inline void store(int16x8_t halves, int16x8_t constant, int16_t* to, int64_t apart) {
  const int16x8_t sums = vsubq_s16(constant, vshlq_n_s16(halves, 1));
  vst1_s16(to, vget_low_s16(sums));
  vst1_s16(to + apart, vget_high_s16(sums));
}

INLINE inline void few(const uint64_t* x, const uint64_t* w, const Row& row, int16x8_t constant, int16_t* to,
                       int64_t apart) {
  Tile tile(x, w, row);
  tile.forth<Turn::first>(), tile.back();
  tile.forth(), tile.back();
  store(narrowed(tile.p.few(), tile.q.few()), constant, to, apart);
  store(narrowed(tile.r.few(), tile.s.few()), constant, to + 2 * apart, apart);
}

// kOnce: bytes hold the counts of all steps.
template <bool kOnce>
INLINE inline void many(const uint64_t* x, const uint64_t* w, const Row& row, int16x8_t constant, int16_t* to,
                        int64_t apart) {
  Tile tile(x, w, row);
  tile.none();
  if (row.steps % 2) tile.back();
  int16x8_t front = vdupq_n_s16(0), back = front;
  int64_t left = row.steps / 2;
  do {
    const int64_t next = kOnce || left < kPairsBeforeSum ? left : kPairsBeforeSum;
    for (const uint8_t* end = tile.w + next * 128; tile.w < end;) tile.forth(), tile.back();
    const int16x8_t of_front = narrowed(tile.p.joined(), tile.q.joined());
    const int16x8_t of_back = narrowed(tile.r.joined(), tile.s.joined());
    front = kOnce ? of_front : vaddq_s16(front, of_front);
    back = kOnce ? of_back : vaddq_s16(back, of_back);
    if (kOnce) break;
    tile.none();
    left -= next;
  } while (left > 0);
  store(vaddq_s16(vshlq_n_s16(front, 1), narrowed(tile.p.bits(), tile.q.bits())), constant, to, apart);
  store(vaddq_s16(vshlq_n_s16(back, 1), narrowed(tile.r.bits(), tile.s.bits())), constant, to + 2 * apart, apart);
}

enum class Length { few, once, many };

// Functions of their own, so that all registers are theirs.
template <Length kLength>
__attribute__((noinline)) void tiles(const uint64_t* x, const uint64_t* w, Row row, int64_t constant, int64_t count,
                                     int16_t* to, int64_t apart) {
  const int16x8_t all = vdupq_n_s16(int16_t(constant));
  for (; count > 0; --count, x += kInputWords * row.words, to += kPlaces * apart) {
    if (kLength == Length::few) few(x, w, row, all, to, apart);
    else many<kLength == Length::once>(x, w, row, all, to, apart);
  }
}

// Taps inside the map, of all that windows along one side have.
int64_t inside(int64_t outputs, int64_t stride, int64_t pad, int64_t kernel, int64_t size) {
  int64_t taps = 0;
  for (int64_t out = 0; out < outputs; ++out) {
    const TapRange range = taps_inside(out, stride, pad, kernel, size);
    taps += range.last - range.first;
  }
  return taps;
}

// Runs of taps take 55 instructions where this takes 48, for those inside alone where the others add nothing.
bool serves(const BinaryConvArgs& a) {
  if (!Row(a).fits()) return false;
  if (!corrects(a)) return true;
  const int64_t all = a.kernel * a.kernel * a.out_h * a.out_w;
  return 55 * inside(a.out_h, a.stride, a.pad, a.kernel, a.height) *
             inside(a.out_w, a.stride, a.pad, a.kernel, a.width) >=
         48 * all;
}

uint64_t packed_weights_bytes(const BinaryConvArgs& a) { return serves(a) ? prefixed_bytes(a) : interleaved_bytes(a); }

void pack_weights(const BinaryConvArgs& a, uint8_t* packed_weights) {
  serves(a) ? pack_prefixes(a, packed_weights) : interleave_outputs(a, packed_weights);
}

void run(const BinaryConvArgs& a) {
  if (!serves(a)) return binary_conv_runs_neon(a);
  const Row row(a);
  run_prefixes(a, row,
               row.words == 2 * kFewSteps + 1     ? tiles<Length::few>
               : row.steps / 2 <= kPairsBeforeSum ? tiles<Length::once>
                                                  : tiles<Length::many>);
}

}  // namespace

extern const BinaryConv kBinaryConvNeon = {run, packed_weights_bytes, pack_weights};

}  // namespace bitreplay
