// Tables of 16 bytes looked up by tbl (nibble_tables.h has the digits and the order of the weights): 32 channels at a
// time.
//
// A pixel has as many rows of tables as there are digits. Four rows, of up to four pixels, go through together: a
// vector of weights is read and cut into nibbles once for all of them, and a table is read once for 32 channels. Sums
// of a digit are 16-bit numbers in registers, which go to gx by one multiplication.
//
// Bound: 87 instructions for 512 products of four rows, 65 for 512 products of a 16-bit gradient.
#include <arm_neon.h>

#include "arithmetic/fixedpoint.h"
#include "kernels/binary_conv/nibble_tables.h"

namespace bitreplay {
namespace {

#define INLINE __attribute__((always_inline))

constexpr int kTogether = 4;
constexpr int64_t kBlocksTogether = 32;  // 32 * 4 * 63 < 2^16, and the tables of four pixels stay in the first cache

// Weight bits of 16 channels for 16 outputs, four by four. Fields here and below, not arrays, which compilers would
// keep in memory.
struct Nibbles16 {
  uint8x16_t a, b, c, d;

  INLINE Nibbles16(uint8x16_t first, uint8x16_t second)
      : a(vandq_u8(first, vdupq_n_u8(15))), b(vshrq_n_u8(first, 4)), c(vandq_u8(second, vdupq_n_u8(15))),
        d(vshrq_n_u8(second, 4)) {}
  // A table after the other: registers are short, and compilers would look up in several before they add.
  INLINE static uint8x16_t add(uint8x16_t sum, uint8x16_t table, uint8x16_t nibbles) {
    asm volatile("" : "+w"(sum));
    return vaddq_u8(sum, vqtbl1q_u8(table, nibbles));
  }
  INLINE uint8x16_t look_up(const uint8x16x4_t& four) const {
    uint8x16_t sum = add(add(vqtbl1q_u8(four.val[0], a), four.val[1], b), four.val[2], c);
    sum = add(sum, four.val[3], d);
    asm volatile("" : "+w"(sum));
    return sum;
  }
};

// Sums of 32 channels.
struct Sums {
  const uint8_t* tables;
  uint16x8_t a = vdupq_n_u16(0), b = a, c = a, d = a;

  INLINE void add(const Nibbles16& front, const Nibbles16& back) {
    // Not before the look-ups of the row before; and a pointer of its own: one index for all rows would cost an
    // addition.
    asm volatile("" : "+r"(tables));
    const uint8x16x4_t four = vld1q_u8_x4(tables);
    tables += 64;
    const uint8x16_t some = front.look_up(four);
    a = vaddw_u8(a, vget_low_u8(some));
    b = vaddw_high_u8(b, some);
    const uint8x16_t others = back.look_up(four);
    c = vaddw_u8(c, vget_low_u8(others));
    d = vaddw_high_u8(d, others);
  }
  INLINE void store(uint16_t* to) const {
    vst1q_u16(to, a);
    vst1q_u16(to + 8, b);
    vst1q_u16(to + 16, c);
    vst1q_u16(to + 24, d);
  }
};

// Sums of kRows rows of tables.
template <int kRows>
void add_rows(const uint8_t* const* tables, const uint8_t* from, int64_t blocks, uint16_t* to) {
  Sums first = {tables[0]}, second = {tables[kRows > 1 ? 1 : 0]}, third = {tables[kRows > 2 ? 2 : 0]},
       fourth = {tables[kRows > 3 ? 3 : 0]};
  for (const uint8_t* end = from + blocks * kNibbleBlockBytes; from != end; from += kNibbleBlockBytes) {
    const uint8x16x4_t bits = vld1q_u8_x4(from);
    const Nibbles16 front(bits.val[0], bits.val[2]), back(bits.val[1], bits.val[3]);
    first.add(front, back);
    if (kRows > 1) second.add(front, back);
    if (kRows > 2) third.add(front, back);
    if (kRows > 3) fourth.add(front, back);
  }
  first.store(to);
  if (kRows > 1) second.store(to + kNibbleChannels);
  if (kRows > 2) third.store(to + 2 * kNibbleChannels);
  if (kRows > 3) fourth.store(to + 3 * kNibbleChannels);
}

// In as few parts as can be, of nearly the same size.
void add_all(const uint8_t* const* tables, int64_t count, const uint8_t* weights, int64_t blocks, uint16_t* to) {
  for (int64_t parts = (count + kTogether - 1) / kTogether; parts > 0; --parts) {
    const int64_t some = (count + parts - 1) / parts;
    if (some == 1) add_rows<1>(tables, weights, blocks, to);
    if (some == 2) add_rows<2>(tables, weights, blocks, to);
    if (some == 3) add_rows<3>(tables, weights, blocks, to);
    if (some == 4) add_rows<4>(tables, weights, blocks, to);
    tables += some, to += some * kNibbleChannels, count -= some;
  }
}

// Adds 2 (sum of digits 64^d) - correction to 32 channels.
template <int kCount>
INLINE inline void finish(const uint16_t* digits, uint32_t correction, uint32_t* to) {
  const uint32x4_t all = vdupq_n_u32(correction);
  const uint16x4_t factors = {2, 2 << 6, 2 << 12, 0};
  for (int64_t k = 0; k < kNibbleChannels; k += 8) {
    uint32x4_t low = vsubq_u32(vld1q_u32(to + k), all), high = vsubq_u32(vld1q_u32(to + k + 4), all);
    const uint16x8_t first = vld1q_u16(digits + k), second = vld1q_u16(digits + kNibbleChannels + k);
    low = vmlal_lane_u16(vmlal_lane_u16(low, vget_low_u16(first), factors, 0), vget_low_u16(second), factors, 1);
    high = vmlal_high_lane_u16(vmlal_high_lane_u16(high, first, factors, 0), second, factors, 1);
    if (kCount > 2) {
      const uint16x8_t third = vld1q_u16(digits + 2 * kNibbleChannels + k);
      low = vmlal_lane_u16(low, vget_low_u16(third), factors, 2);
      high = vmlal_high_lane_u16(high, third, factors, 2);
    }
    vst1q_u32(to + k, low);
    vst1q_u32(to + k + 4, high);
  }
}

// The 16 sums of four gradients, cut into digits: entries 0 to 3 by the first two gradients, then twice as many by
// each.
template <int kCount>
INLINE inline void build(int16x4_t g, int32_t bias, int64_t digit_bytes, uint8_t* to) {
  static constexpr int16_t kFirst[4] = {0, 1, 0, 1}, kSecond[4] = {0, 0, 1, 1};
  const int16x4_t one = vdup_n_s16(1);
  int32x4_t sums[4];
  sums[0] = vmlal_lane_s16(vmlal_lane_s16(vdupq_n_s32(bias), vld1_s16(kFirst), g, 0), vld1_s16(kSecond), g, 1);
  sums[1] = vmlal_lane_s16(sums[0], one, g, 2);
  sums[2] = vmlal_lane_s16(sums[0], one, g, 3);
  sums[3] = vmlal_lane_s16(sums[1], one, g, 3);
  const auto words = [](int32x4_t x) { return vreinterpretq_u16_s32(x); };
  const uint16x8_t lower[2] = {vuzp1q_u16(words(sums[0]), words(sums[1])), vuzp1q_u16(words(sums[2]), words(sums[3]))};
  const uint8x16_t digit = vdupq_n_u8(63);
  vst1q_u8(to, vandq_u8(vuzp1q_u8(vreinterpretq_u8_u16(lower[0]), vreinterpretq_u8_u16(lower[1])), digit));
  const uint8x16_t second = vshrn_high_n_u16(vshrn_n_u16(lower[0], 6), lower[1], 6);
  vst1q_u8(to + digit_bytes, vandq_u8(second, digit));
  if (kCount < 3) return;
  const int16x8_t third[2] = {vshrn_high_n_s32(vshrn_n_s32(sums[0], 12), sums[1], 12),
                              vshrn_high_n_s32(vshrn_n_s32(sums[2], 12), sums[3], 12)};
  vst1q_s8(reinterpret_cast<int8_t*>(to) + 2 * digit_bytes,
           vuzp1q_s8(vreinterpretq_s8_s16(third[0]), vreinterpretq_s8_s16(third[1])));
}

// An output pixel: its tables, the taps that lie inside the map, and where tap 0 lies or would.
template <class G>
struct Pixel {
  alignas(64) uint8_t tables[kBlocksTogether * NibbleDigits<G>::kTableBytes];
  TapRange rows, columns;
  int64_t corner;
  uint32_t correction;
};

// Up to four output pixels, the samples at one place first; they need not have the same taps.
template <class G>
struct Pixels {
  using D = NibbleDigits<G>;
  const BinaryConvInputGradArgs& a;
  const int64_t first, blocks;  // the blocks of outputs that are added now
  Pixel<G> of[kTogether];
  int count = 0;

  Pixels(const BinaryConvInputGradArgs& args, int64_t first_block)
      : a(args), first(first_block), blocks(min_of(kBlocksTogether, nibble_blocks(args) - first_block)) {}

  void join(int64_t sample, int64_t row, int64_t column) {
    Pixel<G>& pixel = of[count++];
    pixel.rows = taps_inside(row, a.stride, a.pad, a.kernel, a.height);
    pixel.columns = taps_inside(column, a.stride, a.pad, a.kernel, a.width);
    pixel.corner = (sample * a.height + row * a.stride - a.pad) * a.width + column * a.stride - a.pad;
    const int64_t output = first * kNibbleOutputs;
    const G* g = static_cast<const G*>(a.g) + ((sample * a.out_h + row) * a.out_w + column) * a.outputs + output;
    int16_t gradients[kBlocksTogether * kNibbleOutputs];
    const uint32_t total = nibble_gradients(g, a.outputs - output, blocks * kNibbleOutputs, gradients);
    for (int64_t n = 0; n < 4 * blocks; ++n)
      build<D::kCount>(vld1_s16(gradients + 4 * n), D::kBias, blocks * 64, pixel.tables + 16 * n);
    pixel.correction = 2 * 4 * uint32_t(blocks) * uint32_t(D::kBias) + total;
  }

  // Through one tap, to `some` <= 32 channels.
  void add(int64_t row, int64_t column, int64_t channel, int64_t some, const uint8_t* weights) {
    const Pixel<G>* inside[kTogether];
    const uint8_t* tables[kTogether * D::kCount];
    int64_t there = 0;
    for (int p = 0; p < count; ++p) {
      const Pixel<G>& pixel = of[p];
      if (row < pixel.rows.first || row >= pixel.rows.last) continue;
      if (column < pixel.columns.first || column >= pixel.columns.last) continue;
      for (int d = 0; d < D::kCount; ++d) tables[there * D::kCount + d] = pixel.tables + d * blocks * 64;
      inside[there++] = &pixel;
    }
    uint16_t digits[kTogether * D::kCount * kNibbleChannels];
    add_all(tables, there * D::kCount, weights, blocks, digits);
    for (int64_t p = 0; p < there; ++p) {
      const uint16_t* from = digits + p * D::kCount * kNibbleChannels;
      uint32_t* to = static_cast<uint32_t*>(a.gx) + (inside[p]->corner + row * a.width + column) * a.channels + channel;
      if (some == kNibbleChannels) {
        finish<D::kCount>(from, inside[p]->correction, to);
        continue;
      }
      uint32_t few[kNibbleChannels] = {};
      finish<D::kCount>(from, inside[p]->correction, few);
      for (int64_t i = 0; i < some; ++i) to[i] += few[i];
    }
  }

  void add() {
    const int64_t taps = a.kernel * a.kernel;
    for (int64_t channel = 0; channel < a.channels; channel += kNibbleChannels) {
      const int64_t group = channel / kNibbleChannels, some = min_of(kNibbleChannels, a.channels - channel);
      for (int64_t tap = 0; tap < taps; ++tap)
        add(tap / a.kernel, tap % a.kernel, channel, some,
            a.packed_weights + ((group * taps + tap) * nibble_blocks(a) + first) * kNibbleBlockBytes);
    }
    count = 0;
  }

  void run() {
    for (int64_t row = 0; row < a.out_h; ++row) {
      for (int64_t column = 0; column < a.out_w; ++column) {
        for (int64_t sample = 0; sample < a.samples; ++sample) {
          join(sample, row, column);
          if (count == kTogether) add();
        }
      }
    }
    if (count) add();
  }
};

template <class G>
void run_as(const BinaryConvInputGradArgs& a) {
  __builtin_memset(a.gx, 0, size_t(a.samples * a.height * a.width * a.channels) * sizeof(uint32_t));
  for (int64_t first = 0; first < nibble_blocks(a); first += kBlocksTogether) Pixels<G>(a, first).run();
}

void run(const BinaryConvInputGradArgs& a) {
  if (!nibbles_serve(a)) return kBinaryConvInputGradScalar.run(a);
  if (a.g_type == BR_INT8) return run_as<int8_t>(a);
  run_as<int16_t>(a);
}

uint64_t packed_weights_bytes(const BinaryConvInputGradArgs& a) {
  return nibbles_serve(a) ? nibble_packed_bytes(a) : kBinaryConvInputGradScalar.packed_weights_bytes(a);
}

void pack_weights(const BinaryConvInputGradArgs& a, uint8_t* packed_weights) {
  if (nibbles_serve(a)) return nibble_derive(a, packed_weights);
  kBinaryConvInputGradScalar.pack_weights(a, packed_weights);
}

}  // namespace

extern const BinaryConvInputGrad kBinaryConvInputGradNeon = {packed_weights_bytes, pack_weights, run};

}  // namespace bitreplay
