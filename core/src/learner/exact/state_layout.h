// The arrays of a state file: their names and offsets behind the header. Arrays of wide elements come first, then they
// are sorted by name. An array that equals another of its kind is not stored (statefile/content.py, `same`).
#pragma once
#include <cstdint>

#include "learner/state/text.h"

struct br_learner;

namespace bitreplay {

// What the sizes of the arrays depend on. Without a class there are no arrays of digests.
struct Shape {
  uint64_t classes, features, pictures;
  uint32_t bits;  // of the sums
  bool digests, class_products;
};

Shape shape_of(const br_learner& learner);

struct Layout {
  enum Array { kSizes, kValues, kClassProducts, kClassSums, kCounts, kProducts, kArrays };  // by name
  uint64_t at[kArrays], bytes[kArrays], end;
  bool there[kArrays], stored[kArrays];

  explicit Layout(const Shape& shape);
};

const char* name_of(Layout::Array array);
// Rows, and columns (0: it has one dimension).
void extent_of(const Shape& shape, Layout::Array array, uint64_t* rows, uint64_t* columns);
constexpr bool kWideFirst[] = {true, false};
inline bool is_wide(const Shape& shape, Layout::Array array) {
  return shape.bits == 64 || array == Layout::kSizes || array == Layout::kValues || array == Layout::kCounts;
}

// The descriptions of the arrays, with the brace that ends the header.
void put_descriptions(const Output& out, const Shape& shape);
// The table of arrays that are not stored.
void put_same(const Output& out, uint64_t classes, bool digests);

}  // namespace bitreplay
