// Weights where they lie, (outputs, kernel, kernel, words): for devices whose weights are in flash and whose RAM is
// small.
//
// Words of 32 bits, since these devices have no wider ones. The taps of one row of the kernel that are inside the map
// lie side by side, in x and in the weights, so a pixel takes one run of words for each row.
#include "kernels/binary_conv/binary_conv.h"

#include <cstring>

#include "arithmetic/sliding_window.h"

namespace bitreplay {
namespace {

constexpr int kGroupsBeforeFold = 10;  // of 24 at most in a byte: 240 < 256

uint32_t load(const uint8_t* from) {
  uint32_t word;
  memcpy(&word, from, sizeof word);
  return word;
}

// Bits of each nibble, at most 4.
uint32_t in_nibbles(uint32_t word) {
  word -= word >> 1 & 0x55555555;
  return (word & 0x33333333) + (word >> 2 & 0x33333333);
}

uint32_t fold_nibbles(uint32_t nibbles) { return (nibbles & 0x0F0F0F0F) + (nibbles >> 4 & 0x0F0F0F0F); }

uint32_t fold_bytes(uint32_t bytes) { return ((bytes & 0x00FF00FF) + (bytes >> 8 & 0x00FF00FF)) * 0x10001 >> 16; }

// Bits that differ in `words` words. Three words at a time: their sum bit by bit has a bit of weight 1 and one of
// weight 2, 4 + 2 * 4 <= 15 in a nibble.
uint32_t differing(const uint8_t* x, const uint8_t* w, int words) {
  uint32_t total = 0;
  while (words >= 3) {
    uint32_t bytes = 0;
    for (int group = 0; group < kGroupsBeforeFold && words >= 3; ++group, words -= 3, x += 12, w += 12) {
      const uint32_t a = load(x) ^ load(w), b = load(x + 4) ^ load(w + 4), c = load(x + 8) ^ load(w + 8);
      const uint32_t either = a ^ b, ones = either ^ c, twos = (a & b) | (either & c);
      bytes += fold_nibbles(in_nibbles(ones) + 2 * in_nibbles(twos));
    }
    total += fold_bytes(bytes);
  }
  for (; words > 0; --words, x += 4, w += 4) total += fold_bytes(fold_nibbles(in_nibbles(load(x) ^ load(w))));
  return total;
}

// Bits of one tap's weights that differ from +1 everywhere.
uint32_t differing_from_ones(const uint64_t* w, int64_t words, int64_t channels) {
  uint32_t total = 0;
  for (int64_t i = 0; i < words; ++i) {
    const int64_t bits = channels - 64 * i;
    const uint64_t differences = (bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1) ^ w[i];
    total += fold_bytes(fold_nibbles(in_nibbles(uint32_t(differences))));
    total += fold_bytes(fold_nibbles(in_nibbles(uint32_t(differences >> 32))));
  }
  return total;
}

}  // namespace

void binary_conv_in_place(const BinaryConvArgs& a) {
  const size_t tap_bytes = size_t(8 * a.words), kernel = size_t(a.kernel), output_bytes = kernel * kernel * tap_bytes;
  int16_t* sums = a.sums;
  for (int64_t n = 0; n < a.samples; ++n) {
    const uint8_t* sample = reinterpret_cast<const uint8_t*>(a.x + n * a.height * a.width * a.words);
    for (int64_t pixel = 0; pixel < a.out_h * a.out_w; ++pixel) {
      const int64_t row0 = pixel / a.out_w * a.stride - a.pad, column0 = pixel % a.out_w * a.stride - a.pad;
      const TapRange rows = taps_inside(pixel / a.out_w, a.stride, a.pad, a.kernel, a.height);
      const TapRange columns = taps_inside(pixel % a.out_w, a.stride, a.pad, a.kernel, a.width);
      const int many = int(rows.last - rows.first), wide = int(columns.last - columns.first);
      const int words = int(wide * 2 * a.words);
      const uint8_t* x = sample + ((row0 + rows.first) * a.width + column0 + columns.first) * int64_t(tap_bytes);
      const size_t x_row = size_t(a.width) * tap_bytes, w_row = kernel * tap_bytes;
      const uint8_t* w =
          reinterpret_cast<const uint8_t*>(a.w) + size_t(rows.first) * w_row + size_t(columns.first) * tap_bytes;
      const bool outside = a.padding && many * wide < int(kernel * kernel);
      const int all = int(a.channels) * (outside ? int(kernel * kernel) : many * wide);
      for (int64_t o = 0; o < a.outputs; ++o, w += output_bytes) {
        uint32_t count = 0;
        for (int row = 0; row < many; ++row)
          count += differing(x + size_t(row) * x_row, w + size_t(row) * w_row, words);
        for (int64_t tap = 0; outside && tap < a.kernel * a.kernel; ++tap) {
          const int64_t r = tap / a.kernel, c = tap % a.kernel;
          if (r < rows.first || r >= rows.last || c < columns.first || c >= columns.last)
            count += differing_from_ones(a.w + (o * a.kernel * a.kernel + tap) * a.words, a.words, a.channels);
        }
        *sums++ = int16_t(all - 2 * int(count));
      }
    }
  }
}

}  // namespace bitreplay
