// SHA-256 (FIPS 180-4), in pieces of any size.
#pragma once
#include <cstddef>
#include <cstdint>

namespace bitreplay {

class Sha256 {
 public:
  Sha256() { begin(); }
  void begin();
  void update(const void* bytes, size_t size);
  void finish(uint8_t digest[32]);
  void finish_hex(char digits[64]);  // without a 0 at the end

 private:
  void block(const uint8_t* bytes);

  uint32_t state_[8];
  uint64_t length_;  // bytes so far
  uint8_t left_[64];
};

}  // namespace bitreplay
