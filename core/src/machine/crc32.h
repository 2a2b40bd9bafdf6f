// The checksum of a program's bytes (CRC-32 of zlib and PNG): on microcontrollers four bits at a time by a table of 64
// bytes, elsewhere eight bytes at a time by tables of 8 KB.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bitreplay {

// What a value with `bits` low bits becomes when they leave.
constexpr uint32_t crc32_shifted(uint32_t value, int bits) {
  for (int bit = 0; bit < bits; ++bit) value = (value >> 1) ^ (value & 1 ? 0xEDB88320u : 0);
  return value;
}

#if defined(BITREPLAY_EMBEDDED)

static inline uint32_t crc32(const uint8_t* bytes, size_t size) {
  uint32_t table[16];
  for (uint32_t i = 0; i < 16; ++i) table[i] = crc32_shifted(i, 4);
  uint32_t crc = 0xFFFFFFFFu;
  for (size_t i = 0; i < size; ++i) {
    crc ^= bytes[i];
    crc = (crc >> 4) ^ table[crc & 15];
    crc = (crc >> 4) ^ table[crc & 15];
  }
  return ~crc;
}

#else

// after[k][b]: what byte b becomes when it and k bytes of 0 behind it have left.
struct Crc32Tables {
  uint32_t after[8][256];

  constexpr Crc32Tables() : after() {
    for (uint32_t byte = 0; byte < 256; ++byte) {
      after[0][byte] = crc32_shifted(byte, 8);
      for (int k = 1; k < 8; ++k) after[k][byte] = crc32_shifted(after[k - 1][byte], 8);
    }
  }
};

inline constexpr Crc32Tables kCrc32;

static inline uint32_t crc32(const uint8_t* bytes, size_t size) {
  const auto& after = kCrc32.after;
  uint32_t crc = 0xFFFFFFFFu;
  size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    uint32_t low, high;
    memcpy(&low, bytes + i, 4);
    memcpy(&high, bytes + i + 4, 4);
    low ^= crc;
    crc = after[7][low & 255] ^ after[6][low >> 8 & 255] ^ after[5][low >> 16 & 255] ^ after[4][low >> 24] ^
          after[3][high & 255] ^ after[2][high >> 8 & 255] ^ after[1][high >> 16 & 255] ^ after[0][high >> 24];
  }
  for (; i < size; ++i) crc = (crc >> 8) ^ after[0][(crc ^ bytes[i]) & 255];
  return ~crc;
}

#endif

}  // namespace bitreplay
