// Whether sums can be those of a part's images and of more: docs/law.md section 13, "Possible", for the difference.
#pragma once
#include "sums/possible.h"

namespace bitreplay {

template <class All, class Part>
struct Difference {
  All all;
  Part part;
  bool has_part;

  bool next(int64_t* value) {
    int64_t less = 0;
    if (!all.next(value) || (has_part && !part.next(&less))) return false;
    *value -= less;
    return true;
  }
};
template <class All, class Part>
Difference<All, Part> difference(All all, Part part, bool has_part) {
  return {all, part, has_part};
}

// Both have count(row), class_sums(row) and products(). row_of(row) is a class's row in the part, or -1. As far as
// counts, class sums and squares tell: BR_OK, BR_OTHER_BASE, BR_STORAGE. min_squares[features] is scratch.
template <class All, class Part, class RowOf>
int contain(const All& all, const Part& part, int64_t classes, int64_t features, const RowOf& row_of, bool forgot,
            int64_t* min_squares) {
  for (int64_t i = 0; i < features; ++i) min_squares[i] = 0;
  int64_t pictures = 0;
  for (int64_t row = 0; row < classes; ++row) {
    const int64_t own = row_of(row);
    const int64_t count = all.count(row) - (own < 0 ? 0 : part.count(own));
    if (count < 0) return BR_OTHER_BASE;
    pictures += count;
    auto left = difference(all.class_sums(row), part.class_sums(max_of(own, 0)), own >= 0);
    if (const int wrong = add_min_squares(left, count, features, min_squares))
      return wrong == BR_IMPOSSIBLE ? BR_OTHER_BASE : wrong;
  }
  auto left = difference(all.products(), part.products(), true);
  for (int64_t i = 0; i < features; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      int64_t product;
      if (!left.next(&product)) return BR_STORAGE;
      if (i == j && !is_square(product, min_squares[i], pictures, forgot)) return BR_OTHER_BASE;
    }
  return BR_OK;
}

}  // namespace bitreplay
