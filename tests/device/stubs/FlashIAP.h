/* Of Mbed OS. */
#pragma once
#include <stdint.h>
namespace mbed {
class FlashIAP {
 public:
  int init();
  int read(void* buffer, uint32_t address, uint32_t size);
  int program(const void* buffer, uint32_t address, uint32_t size);
  int erase(uint32_t address, uint32_t size);
  uint32_t get_flash_start() const;
  uint32_t get_flash_size() const;
};
}  // namespace mbed
