// Whether images with these sums can exist, feature by feature: docs/law.md section 13, "Possible". The sums may be in
// memory or in a file: functions return BR_STORAGE if they cannot be read, else BR_OK or BR_IMPOSSIBLE.
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
  const int64_t scaled = square * (int64_t(1) << 2 * kRootBits), root = root_below(scaled);
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

// The next class, of `count` images: what its sums need at least is added to min_squares[features].
template <class Source>
int add_min_squares(Source& class_sums, int64_t count, int64_t features, int64_t* min_squares) {
  for (int64_t i = 0; i < features; ++i) {
    int64_t sum;
    if (!class_sums.next(&sum)) return BR_STORAGE;
    if (!is_within(sum, kLargestNumber * count)) return BR_IMPOSSIBLE;
    if (count) min_squares[i] += min_square(sum, count);
  }
  return BR_OK;
}

// All products of so many pictures. They are read twice: for the squares, whose roots take the place of min_squares,
// and for pairs of features. Writes the largest; adds each to `totals` unless that is null.
template <class Source>
int check_products(const Source& products, int64_t features, int64_t pictures, bool forgot, int64_t* min_squares,
                   int64_t* largest, int64_t* totals) {
  const int64_t limit = kLargestSquare * (forgot ? kMaxPictures : pictures);
  int64_t product, squares = 0;
  *largest = 0;
  Source first = products;
  for (int64_t i = 0; i < features; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      if (!first.next(&product)) return BR_STORAGE;
      if (!is_within(product, limit)) return BR_IMPOSSIBLE;
      *largest = max_of(*largest, absolute(product));
      if (i != j) continue;
      if (!is_square(product, min_squares[i], pictures, forgot)) return BR_IMPOSSIBLE;
      squares += product;
      min_squares[i] = root_above(product);
    }
  if (*largest > bound_of(pictures, squares, forgot)) return BR_IMPOSSIBLE;
  if (forgot && !totals) return BR_OK;
  Source again = products;
  for (int64_t i = 0, at = 0; i < features; ++i)
    for (int64_t j = 0; j <= i; ++j, ++at) {
      if (!again.next(&product)) return BR_STORAGE;
      if (!forgot && !is_product(product, uint32_t(min_squares[i]), uint32_t(min_squares[j]))) return BR_IMPOSSIBLE;
      if (totals) totals[at] += product;
    }
  return BR_OK;
}

// Sums `all`, in memory or in a file, have count(row), class_sums(row) and products().
// All but the products of classes; min_squares[features] is scratch. Writes the largest product.
template <class All>
int check_sums(const All& all, int64_t classes, int64_t features, int64_t pictures, bool forgot, int64_t* min_squares,
               int64_t* largest) {
  for (int64_t i = 0; i < features; ++i) min_squares[i] = 0;
  auto rows = all.class_sums(0);
  for (int64_t c = 0; c < classes; ++c)
    if (const int wrong = add_min_squares(rows, all.count(c), features, min_squares)) return wrong;
  return check_products(all.products(), features, pictures, forgot, min_squares, largest, nullptr);
}

struct InMemory {
  const br_sums& sums;

  int64_t count(int64_t row) const { return sums.counts[row]; }
  Numbers class_sums(int64_t row) const { return {sums.class_sums, sums.bits, row * sums.features}; }
  Numbers products() const { return {sums.products, sums.bits, 0}; }
};

}  // namespace bitreplay
