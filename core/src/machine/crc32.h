// The checksum of a program's bytes (CRC-32 of zlib and PNG), four bits at a time: a table of 64 bytes.
#pragma once
#include <cstddef>
#include <cstdint>

namespace bitreplay {

static inline uint32_t crc32(const uint8_t* bytes, size_t size) {
  uint32_t table[16];
  for (uint32_t i = 0; i < 16; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 4; ++bit) value = (value >> 1) ^ (value & 1 ? 0xEDB88320u : 0);
    table[i] = value;
  }
  uint32_t crc = 0xFFFFFFFFu;
  for (size_t i = 0; i < size; ++i) {
    crc ^= bytes[i];
    crc = (crc >> 4) ^ table[crc & 15];
    crc = (crc >> 4) ^ table[crc & 15];
  }
  return ~crc;
}

}  // namespace bitreplay
