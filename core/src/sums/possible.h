// Whether images with these sums can exist, feature by feature, wherever the sums are stored: docs/law.md section 13,
// "Possible".
#pragma once
#include "arithmetic/fixedpoint.h"
#include "sums/check.h"

namespace bitreplay {

constexpr int64_t kLargestSquare = kLargestNumber * kLargestNumber;
constexpr int64_t kRootBits = 8;  // behind the point of a square root

// The smallest sum of squares of `count` integers with this sum; count > 0.
static inline int64_t min_square(int64_t sum, int64_t count) {
  int64_t q = sum / count, r = sum - q * count;
  if (r < 0) {
    --q;
    r += count;
  }
  return sum * q + q * r + r;
}

// The pictures that there are, or as many as a product of this size needs at least.
static inline int64_t extent_of(int64_t pictures, int64_t largest) {
  return max_of(pictures, largest / kLargestSquare + (largest % kLargestSquare > 0));
}

// What bounds every product: those of the pictures and, where something forgotten left its scatter, all squares
// together. Both add up when states are merged, so that what is merged keeps the bound.
static inline int64_t bound_of(int64_t pictures, int64_t squares, bool forgot) {
  return kLargestSquare * pictures + (forgot ? squares : 0);
}

// The root of a square, at most 127^2 (2^31 - 1), rounded up: below 2^31.
static inline uint32_t root_above(int64_t square) {
  const int64_t scaled = square * (int64_t(1) << 2 * kRootBits);
  int64_t root = 0;
  for (int64_t bit = int64_t(1) << 30; bit; bit >>= 1)
    if ((root + bit) * (root + bit) <= scaled) root += bit;
  return uint32_t(root + (root * root < scaled));
}

static inline bool is_square(int64_t square, int64_t min_squares, int64_t pictures, bool forgot) {
  return square >= min_squares && square <= kLargestSquare * (forgot ? kMaxPictures : pictures);
}

// Takes any values; the other functions take values within their bounds.
static inline bool is_within(int64_t value, int64_t bound) { return value <= bound && value >= -bound; }

// The Cauchy-Schwarz inequality of two features, by the roots of their squares; |product| < 2^46.
static inline bool is_product(int64_t product, uint32_t root, uint32_t other) {
  return absolute(product) * (int64_t(1) << 2 * kRootBits) <= int64_t(root) * other;
}

}  // namespace bitreplay
