// Tables of 16 bytes looked up by vpshufb, 32 channels and 32 outputs at a time; packed weights as in nibble_tables.h.
//
// The subset sums of four gradients, above the least of them, are at most R, the sum of |g|: digits of 5 bits, of which
// eight add up in a byte (8 * 31 < 256), or of 6 bits, of which four do. Below 2^16 an R of 16-bit gradients takes 5, 5
// and 6 bits, otherwise 6, 6 and 6. With the sum of |g| over all outputs, sum of +-g = 2 (sum of digits) - sum of |g|.
// The weights of a tap are cut into nibbles once for up to eight pixels.
// Bound: 56 operations for 1,024 products (5, 5, 6), 60 (6, 6, 6), and 12 for eight pixels to cut the weights.
#include <immintrin.h>

#include "kernels/binary_conv/nibble_tables.h"
#include "kernels/lanes/subset_sums_avx2.h"

namespace bitreplay {
namespace {

// Outputs at a time, their nibbles, the tables of all pixels that are held, and of one.
constexpr int64_t kOutputs = 32, kNibbles = 8, kHeld = 128, kPixelOutputs = 1024, kMaxPixels = 8;
constexpr int64_t kCutBytes = kNibbles * kNibbleChannels;

template <int kDigits>
constexpr int64_t kTableBytes = (kDigits * kNibbles) * 16;

// In a register and in the order of the text: otherwise 16 registers do not suffice.
#define IN_ORDER(v) __asm__("" : "+x"(v))

inline __m256i load(const uint8_t* from) { return _mm256_load_si256(reinterpret_cast<const __m256i*>(from)); }
inline __m256i table_at(const uint8_t* table) {
  return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(table)));
}

// 16-bit sums of bytes: `all` adds words as they are, modulo 2^16, and `odd` their upper bytes, so that the sum of the
// lower ones is all - 256 odd.
struct Digit {
  __m256i all, odd;

  __attribute__((always_inline)) void add(__m256i bytes) {
    all = _mm256_add_epi16(all, bytes);
    IN_ORDER(all);
    odd = _mm256_add_epi16(odd, _mm256_srli_epi16(bytes, 8));
    IN_ORDER(odd);
  }
};

// The sum of four look-ups.
__attribute__((always_inline)) inline __m256i look_up(const uint8_t* tables, const __m256i nibbles[4]) {
  __m256i sum = _mm256_shuffle_epi8(table_at(tables), nibbles[0]);
  for (int n = 1; n < 4; ++n) {
    sum = _mm256_add_epi8(sum, _mm256_shuffle_epi8(table_at(tables + 16 * n), nibbles[n]));
    IN_ORDER(sum);
  }
  return sum;
}

// Digits below kShort have 5 bits, the others 6. Adds 2 (sum of digits) - magnitude to 32 channels.
template <int kDigits, int kShort>
__attribute__((noinline)) void add_pixel(const uint8_t* tables, const uint8_t* cut, int64_t count, uint32_t magnitude,
                                         uint32_t* to) {
  Digit digits[kDigits];
#pragma GCC unroll 3
  for (int d = 0; d < kDigits; ++d) digits[d].all = digits[d].odd = _mm256_setzero_si256();
  for (int64_t k = 0; k < count; ++k, tables += kTableBytes<kDigits>, cut += kCutBytes) {
    __m256i first[kDigits];
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      __m256i nibbles[4];
#pragma GCC unroll 4
      for (int n = 0; n < 4; ++n) {
        nibbles[n] = load(cut + (4 * half + n) * kNibbleChannels);
        IN_ORDER(nibbles[n]);
      }
#pragma GCC unroll 3
      for (int d = 0; d < kDigits; ++d) {
        const __m256i sum = look_up(tables + (d * kNibbles + 4 * half) * 16, nibbles);
        if (d >= kShort) digits[d].add(sum);
        else if (half) digits[d].add(_mm256_add_epi8(first[d], sum));
        else first[d] = sum;
      }
    }
  }
  for (int k = 0; k < 4; ++k) {
    __m256i sum = _mm256_setzero_si256();
    for (int d = kDigits - 1; d >= 0; --d) {
      // Words 0-3 and 8-11 of even and odd bytes interleave to channels 0-7 and 16-23, the others to 8-15 and 24-31.
      const __m256i odd = digits[d].odd, even = _mm256_sub_epi16(digits[d].all, _mm256_slli_epi16(odd, 8));
      const __m256i both = k % 2 ? _mm256_unpackhi_epi16(even, odd) : _mm256_unpacklo_epi16(even, odd);
      const __m128i words = k / 2 ? _mm256_extracti128_si256(both, 1) : _mm256_castsi256_si128(both);
      sum = _mm256_add_epi32(_mm256_slli_epi32(sum, d < kShort ? 5 : 6), _mm256_cvtepu16_epi32(words));
    }
    __m256i* at = reinterpret_cast<__m256i*>(to + 8 * k);
    const __m256i change = _mm256_sub_epi32(_mm256_add_epi32(sum, sum), _mm256_set1_epi32(int32_t(magnitude)));
    _mm256_storeu_si256(at, _mm256_add_epi32(_mm256_loadu_si256(at), change));
  }
}

// The sum of |g| over all gradients, a multiple of 32 of them, and the largest over four.
struct Magnitudes {
  uint32_t all = 0;
  int32_t largest = 0;

  Magnitudes(const int16_t* g, int64_t count) {
    const __m256i lower = _mm256_set1_epi32(0xFFFF);
    __m256i sums = _mm256_setzero_si256(), largest_fours = sums;
    for (int64_t o = 0; o < count; o += 16) {
      const __m256i each = _mm256_abs_epi16(_mm256_load_si256(reinterpret_cast<const __m256i*>(g + o)));
      const __m256i two = _mm256_add_epi32(_mm256_and_si256(each, lower), _mm256_srli_epi32(each, 16));
      const __m256i four = _mm256_add_epi32(two, _mm256_shuffle_epi32(two, 0xB1));
      sums = _mm256_add_epi32(sums, two);
      largest_fours = _mm256_max_epi32(largest_fours, four);
    }
    alignas(32) int32_t lanes[8], fours[8];
    _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), sums);
    _mm256_store_si256(reinterpret_cast<__m256i*>(fours), largest_fours);
    for (int k = 0; k < 8; ++k) {
      all += uint32_t(lanes[k]);
      largest = fours[k] > largest ? fours[k] : largest;
    }
  }
};

template <int kDigits>
void build(const int16_t* g, int64_t count, int shorts, uint8_t* tables) {
  for (int64_t k = 0; k < count; ++k, tables += kTableBytes<kDigits>) {
    for (int64_t n = 0; n < kNibbles; n += 2, g += 8) {
      __m256i sums[2][2];
      subset_sums(g, sums[0]);
      subset_sums(g + 4, sums[1]);
      int down = 0;
      for (int d = 0; d < kDigits; ++d) {
        const int bits = d < shorts ? 5 : 6;
        _mm256_store_si256(reinterpret_cast<__m256i*>(tables + (d * kNibbles + n) * 16),
                           digit_tables(sums, down, (1 << bits) - 1));
        down += bits;
      }
    }
  }
}

// The nibbles of `blocks` blocks of 16 outputs, to 32 outputs at a time.
inline void cut_weights(const uint8_t* weights, int64_t blocks, uint8_t* to) {
  const __m256i low = _mm256_set1_epi8(15);
  for (int64_t k = 0; k < blocks; ++k) {
    for (int64_t half = 0; half < 2; ++half, weights += 32, to += 64) {
      const __m256i bytes = load(weights);
      _mm256_store_si256(reinterpret_cast<__m256i*>(to), _mm256_and_si256(bytes, low));
      _mm256_store_si256(reinterpret_cast<__m256i*>(to + 32), _mm256_and_si256(_mm256_srli_epi16(bytes, 4), low));
    }
  }
  if (blocks % 2) __builtin_memset(to, 0, kCutBytes / 2);
}

// A pixel of the output: where its taps go, and its tables.
struct Pixel {
  TapRange rows, columns;
  int64_t row, column;  // of the first tap
  uint32_t* gx;         // of its sample
  const uint8_t* tables;
  uint32_t magnitude;
  bool is_short;
};

template <class G>
class InputGrad {
 public:
  explicit InputGrad(const BinaryConvInputGradArgs& a) : a_(a) {}

  void run() {
    const int64_t pixels = a_.samples * a_.out_h * a_.out_w;
    __builtin_memset(a_.gx, 0, size_t(a_.samples * a_.height * a_.width * a_.channels) * sizeof(uint32_t));
    for (int64_t first = 0; first < a_.outputs; first += kPixelOutputs) {
      const int64_t outputs = min_of_two(kPixelOutputs, a_.outputs - first);
      count_ = (outputs + kOutputs - 1) / kOutputs;
      const int64_t together = min_of_two(kMaxPixels, kHeld / count_);
      for (int64_t q = 0; q < pixels; q += together) {
        const int64_t held = min_of_two(together, pixels - q);
        for (int64_t k = 0; k < held; ++k) prepare(q + k, first, outputs, k);
        add_taps(first / kNibbleOutputs, (outputs + kNibbleOutputs - 1) / kNibbleOutputs, held);
      }
    }
  }

 private:
  static constexpr int kDigits = sizeof(G) == 1 ? 2 : 3;
  static int64_t min_of_two(int64_t a, int64_t b) { return a < b ? a : b; }

  void prepare(int64_t q, int64_t first, int64_t outputs, int64_t k) {
    const int64_t in_sample = q % (a_.out_h * a_.out_w), row = in_sample / a_.out_w, column = in_sample % a_.out_w;
    const G* g = static_cast<const G*>(a_.g) + q * a_.outputs + first;
    alignas(64) int16_t gradients[kPixelOutputs];
    for (int64_t o = 0; o < outputs; ++o) gradients[o] = int16_t(g[o]);
    for (int64_t o = outputs; o < count_ * kOutputs; ++o) gradients[o] = 0;
    const Magnitudes magnitudes(gradients, count_ * kOutputs);
    const bool is_short = magnitudes.largest < 1 << 16;
    uint8_t* tables = tables_ + k * count_ * kTableBytes<kDigits>;
    build<kDigits>(gradients, count_, is_short ? 2 : 0, tables);
    pixels_[k] = {taps_inside(row, a_.stride, a_.pad, a_.kernel, a_.height),
                  taps_inside(column, a_.stride, a_.pad, a_.kernel, a_.width),
                  row * a_.stride - a_.pad,
                  column * a_.stride - a_.pad,
                  static_cast<uint32_t*>(a_.gx) + q / (a_.out_h * a_.out_w) * a_.height * a_.width * a_.channels,
                  tables,
                  magnitudes.all,
                  is_short};
  }

  void add(const Pixel& pixel, uint32_t* to) const {
    if (pixel.is_short) add_pixel<kDigits, 2>(pixel.tables, cut_, count_, pixel.magnitude, to);
    else add_pixel<kDigits, 0>(pixel.tables, cut_, count_, pixel.magnitude, to);
  }

  // Outputs of `blocks` blocks from `block` on.
  void add_taps(int64_t block, int64_t blocks, int64_t held) {
    const int64_t taps = a_.kernel * a_.kernel, all_blocks = nibble_blocks(a_);
    for (int64_t channel = 0; channel < a_.channels; channel += kNibbleChannels) {
      const int64_t channels = min_of_two(kNibbleChannels, a_.channels - channel);
      for (int64_t tap = 0; tap < taps; ++tap) {
        const int64_t r = tap / a_.kernel, c = tap % a_.kernel;
        bool is_cut = false;
        for (int64_t k = 0; k < held; ++k) {
          const Pixel& pixel = pixels_[k];
          if (r < pixel.rows.first || r >= pixel.rows.last || c < pixel.columns.first || c >= pixel.columns.last)
            continue;
          const uint8_t* weights =
              a_.packed_weights + ((channel / kNibbleChannels * taps + tap) * all_blocks + block) * kNibbleBlockBytes;
          if (!is_cut) cut_weights(weights, blocks, cut_);
          is_cut = true;
          uint32_t* to = pixel.gx + ((pixel.row + r) * a_.width + pixel.column + c) * a_.channels + channel;
          if (channels == kNibbleChannels) {
            add(pixel, to);
            continue;
          }
          uint32_t some[kNibbleChannels] = {};
          add(pixel, some);
          for (int64_t i = 0; i < channels; ++i) to[i] += some[i];
        }
      }
    }
  }

  const BinaryConvInputGradArgs& a_;
  int64_t count_ = 0;  // times 32 outputs
  Pixel pixels_[kMaxPixels];
  alignas(64) uint8_t tables_[kHeld * kTableBytes<kDigits>];
  alignas(64) uint8_t cut_[kPixelOutputs / kOutputs * kCutBytes];
};

uint64_t packed_weights_bytes(const BinaryConvInputGradArgs& a) {
  return nibbles_serve(a) ? nibble_packed_bytes(a) : kBinaryConvInputGradScalar.packed_weights_bytes(a);
}

// transpose8 (packing.h) of four squares.
inline __m256i transpose_squares(__m256i x) {
  const auto swap = [&](int64_t mask, int places) {
    const __m256i t = _mm256_and_si256(_mm256_xor_si256(x, _mm256_srli_epi64(x, places)), _mm256_set1_epi64x(mask));
    x = _mm256_xor_si256(x, _mm256_xor_si256(t, _mm256_slli_epi64(t, places)));
  };
  swap(0x00AA00AA00AA00AA, 7);
  swap(0x0000CCCC0000CCCC, 14);
  swap(0x00000000F0F0F0F0, 28);
  return x;
}

// nibble_derive: a word of eight outputs is eight squares of bits, which its bytes make one after the other.
void pack_nibbles(const BinaryConvInputGradArgs& a, uint8_t* packed_weights) {
  const int64_t taps = a.kernel * a.kernel, octets = 2 * nibble_blocks(a),
                group_bytes = taps * octets * kNibbleChannels;
  for (int64_t at = 0; at < taps * octets; ++at) {
    const int64_t tap = at / octets, first = at % octets * 8;
    for (int64_t word = 0; word < a.words; ++word) {
      __m128i rows[8], twos[4], fours[4];
      for (int64_t j = 0; j < 8; ++j)
        rows[j] =
            first + j < a.outputs
                ? _mm_loadl_epi64(reinterpret_cast<const __m128i*>(a.w + ((first + j) * taps + tap) * a.words + word))
                : _mm_setzero_si128();
      for (int k = 0; k < 4; ++k) twos[k] = _mm_unpacklo_epi8(rows[k], rows[k + 4]);
      for (int k = 0; k < 2; ++k) {
        fours[k] = _mm_unpacklo_epi8(twos[k], twos[k + 2]);      // bytes 0-3
        fours[k + 2] = _mm_unpackhi_epi8(twos[k], twos[k + 2]);  // bytes 4-7
      }
      uint8_t* to = packed_weights + 2 * word * group_bytes + at * kNibbleChannels;
      for (int half = 0; half < 2; ++half, to += group_bytes) {
        if (half && a.channels - word * kWord <= kNibbleChannels) break;
        const __m128i *even = fours + 2 * half, *odd = even + 1;
        const __m256i squares = _mm256_set_m128i(_mm_unpackhi_epi8(*even, *odd), _mm_unpacklo_epi8(*even, *odd));
        _mm256_store_si256(reinterpret_cast<__m256i*>(to), transpose_squares(squares));
      }
    }
  }
}

void pack_weights(const BinaryConvInputGradArgs& a, uint8_t* packed_weights) {
  if (nibbles_serve(a)) return pack_nibbles(a, packed_weights);
  kBinaryConvInputGradScalar.pack_weights(a, packed_weights);
}

void run(const BinaryConvInputGradArgs& a) {
  if (!nibbles_serve(a)) return kBinaryConvInputGradScalar.run(a);
  if (a.g_type == BR_INT8) return InputGrad<int8_t>(a).run();
  InputGrad<int16_t>(a).run();
}

}  // namespace

extern const BinaryConvInputGrad kBinaryConvInputGradAvx2 = {packed_weights_bytes, pack_weights, run};

}  // namespace bitreplay
