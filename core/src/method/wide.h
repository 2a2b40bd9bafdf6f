// Integers of many bits, as much of them as learning rates need: products, shifts, comparisons, differences.
#pragma once
#include <cstddef>
#include <cstdint>

namespace bitreplay {

class Wide {
 public:
  static constexpr int kLimbs = 20, kBits = 32 * kLimbs;

  explicit Wide(uint64_t value = 0) {
    for (uint32_t& limb : limbs_) limb = 0;
    limbs_[0] = uint32_t(value);
    limbs_[1] = uint32_t(value >> 32);
  }
  int bits() const {
    for (int i = kLimbs; i-- > 0;)
      if (limbs_[i]) return 32 * i + 32 - __builtin_clz(limbs_[i]);
    return 0;
  }
  // The product must fit, as must what is shifted.
  void times(uint64_t by) {
    Wide high = *this;
    times_small(uint32_t(by));
    high.times_small(uint32_t(by >> 32));
    high.shift(32);
    plus(high);
  }
  void plus(const Wide& other) {
    uint64_t carry = 0;
    for (int i = 0; i < kLimbs; ++i) {
      carry += uint64_t(limbs_[i]) + other.limbs_[i];
      limbs_[i] = uint32_t(carry);
      carry >>= 32;
    }
  }
  void minus(const Wide& other) {
    int64_t carry = 0;
    for (int i = 0; i < kLimbs; ++i) {
      carry += int64_t(limbs_[i]) - other.limbs_[i];
      limbs_[i] = uint32_t(uint64_t(carry));
      carry >>= 32;
    }
  }
  void shift(int up) {
    const int whole = up / 32, part = up % 32;
    for (int i = kLimbs; i-- > 0;) {
      const uint64_t here = i >= whole ? limbs_[i - whole] : 0, below = i > whole ? limbs_[i - whole - 1] : 0;
      limbs_[i] = uint32_t((here << 32 | below) >> (32 - part));
    }
  }
  void halve() {
    for (int i = 0; i < kLimbs; ++i) limbs_[i] = limbs_[i] >> 1 | (i + 1 < kLimbs ? limbs_[i + 1] << 31 : 0);
  }
  bool below(const Wide& other) const {
    for (int i = kLimbs; i-- > 0;)
      if (limbs_[i] != other.limbs_[i]) return limbs_[i] < other.limbs_[i];
    return false;
  }

 private:
  void times_small(uint32_t by) {
    uint64_t carry = 0;
    for (uint32_t& limb : limbs_) {
      carry += uint64_t(limb) * by;
      limb = uint32_t(carry);
      carry >>= 32;
    }
  }

  uint32_t limbs_[kLimbs];  // the lowest first
};

}  // namespace bitreplay
