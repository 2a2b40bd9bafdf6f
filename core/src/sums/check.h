// What the functions of learning by sums refuse, and how their arrays lie.
#pragma once
#include <cstddef>
#include <cstdint>

#include "bitreplay.h"

namespace bitreplay {

constexpr int64_t kLargestNumber = 127, kNarrowPictures = 1 << 17, kMaxPictures = (int64_t(1) << 31) - 1;
constexpr int64_t kMaxFeatures = 1 << 13;

static inline int64_t triangle(int64_t features) { return features * (features + 1) / 2; }

static inline int64_t padded(int64_t features, int64_t to) { return (features + to - 1) / to * to; }

// One of the sums, whichever their width.
static inline int64_t sum_at(const void* sums, uint32_t bits, int64_t at) {
  return bits == 32 ? static_cast<const int32_t*>(sums)[at] : static_cast<const int64_t*>(sums)[at];
}

// The numbers of an array in memory, one after another; those of a file are read so too (learner/exact/state_check.h).
struct Numbers {
  const void* sums;
  uint32_t bits;
  int64_t at;

  bool next(int64_t* value) { return *value = sum_at(sums, bits, at++), true; }
};

// The place of a row of class_products, or null.
static inline uint8_t* class_products_at(const br_sums& sums, int64_t row) {
  uint8_t* const rows = static_cast<uint8_t*>(sums.class_products);
  return rows ? rows + size_t(row) * (sums.bits / 8) * size_t(triangle(sums.features)) : nullptr;
}

// Modulo 2^32 or 2^64: sums that are not those of pictures may wrap.
static inline void change_sum(void* sums, uint32_t bits, int64_t at, int64_t by) {
  if (bits == 32) {
    int32_t* narrow = static_cast<int32_t*>(sums) + at;
    *narrow = int32_t(uint32_t(*narrow) + uint32_t(by));
  } else {
    int64_t* wide = static_cast<int64_t*>(sums) + at;
    *wide = int64_t(uint64_t(*wide) + uint64_t(by));
  }
}

// Adds the products of a class to those of all, or takes them out.
void change_all_products(const br_sums& sums, int64_t row, int64_t sign);

// The number of pictures, or -1 if the description does not hold together.
static inline int64_t checked_pictures(const br_sums* sums) {
  if (!sums || sums->features < 1 || sums->features > kMaxFeatures || sums->classes < 1) return -1;
  if (!sums->counts || !sums->class_sums || !sums->products || (sums->bits != 32 && sums->bits != 64)) return -1;
  int64_t pictures = 0;
  for (uint32_t c = 0; c < sums->classes; ++c) {
    if (sums->counts[c] < 0 || sums->counts[c] > kMaxPictures - pictures) return -1;
    pictures += sums->counts[c];
  }
  return pictures > kNarrowPictures && sums->bits == 32 ? -1 : pictures;
}

}  // namespace bitreplay
