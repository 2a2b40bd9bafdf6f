// Signs as bits, least significant bit first in 64-bit words: the twin of engine/arithmetic/packing.py, docs/law.md
// section 3.
#pragma once
#include <cstdint>

namespace bitreplay {

constexpr int64_t kWord = 64;

static inline int64_t words_for(int64_t channels) { return (channels + kWord - 1) / kWord; }

// Bits of each byte, in that byte.
static inline uint64_t count_bytes(uint64_t v) {
  v -= (v >> 1) & 0x5555555555555555u;
  v = (v & 0x3333333333333333u) + ((v >> 2) & 0x3333333333333333u);
  return (v + (v >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
}

// Sum of the eight bytes; at most 8 * 255.
static inline int32_t sum_bytes(uint64_t v) {
  v = (v & 0x00FF00FF00FF00FFu) + ((v >> 8) & 0x00FF00FF00FF00FFu);
  return int32_t((v * 0x0001000100010001u) >> 48);
}

// Byte r of the result holds bit r of each of the eight bytes: an 8 x 8 matrix of bits, transposed.
static inline uint64_t transpose8(uint64_t x) {
  uint64_t t = (x ^ (x >> 7)) & 0x00AA00AA00AA00AAu;
  x ^= t ^ (t << 7);
  t = (x ^ (x >> 14)) & 0x0000CCCC0000CCCCu;
  x ^= t ^ (t << 14);
  t = (x ^ (x >> 28)) & 0x00000000F0F0F0F0u;
  return x ^ t ^ (t << 28);
}

}  // namespace bitreplay
