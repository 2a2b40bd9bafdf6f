// Random numbers without a state: the twin of engine/arithmetic/counter.py, docs/law.md section 4.
#pragma once
#include <cstdint>

namespace bitreplay {

static inline uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

static inline uint64_t counter_key(uint64_t seed, uint64_t step, uint64_t tensor) {
  return mix(mix(mix(seed) ^ step) ^ tensor);
}

constexpr uint32_t kElementFactor = 0x9E3779B1u;

// `place` = element * kElementFactor + the lower half of the key.
static inline uint32_t random_bits_at(uint32_t place, uint64_t key) {
  uint32_t x = place ^ (place >> 16);
  x *= 0x85EBCA6Bu;
  x ^= x >> 13;
  x ^= uint32_t(key >> 32);
  x *= 0xC2B2AE35u;
  return x ^ (x >> 16);
}

static inline uint32_t random_bits(uint64_t key, uint32_t element) {
  return random_bits_at(element * kElementFactor + uint32_t(key), key);
}

}  // namespace bitreplay
