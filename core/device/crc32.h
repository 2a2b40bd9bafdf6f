/* The checksum of zlib and PNG, a bit at a time: as core/src/machine/crc32.h, for C. `crc` is 0 at the beginning. */
#ifndef BITREPLAY_DEVICE_CRC32_H
#define BITREPLAY_DEVICE_CRC32_H
#include <stddef.h>
#include <stdint.h>

static inline uint32_t device_crc32(uint32_t crc, const uint8_t* bytes, size_t size) {
  crc = ~crc;
  for (size_t i = 0; i < size; ++i) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320u : 0);
  }
  return ~crc;
}

#endif
