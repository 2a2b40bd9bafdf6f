// Divides the caller's memory.
#pragma once
#include <cstddef>
#include <cstdint>

namespace bitreplay {

// Hands out pieces one after another, each aligned to 64. Without memory it only adds up their sizes.
class BumpAllocator {
 public:
  explicit BumpAllocator(uint8_t* memory) : memory_(memory) {}
  template <class T>
  T* next(size_t count) {
    T* at = memory_ ? reinterpret_cast<T*>(memory_ + used_) : nullptr;
    used_ += (count * sizeof(T) + 63) / 64 * 64;
    return at;
  }
  size_t used() const { return used_; }

 private:
  uint8_t* memory_;
  size_t used_ = 0;
};

}  // namespace bitreplay
