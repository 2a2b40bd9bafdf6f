// n S = G - sum_c s s^T / n_c, of sums in memory or in a file.
//
// With s = q n_c + r, s_i s_j / n_c = s_i q_j + q_i r_j + r_i r_j / n_c. For a few classes at a time, row i of the
// first table holds the low and high parts of s_i, then q_i and r_i; row j of the second what they are multiplied by.
// So an entry is two sums of products of rows. A class without images has zeros.
#pragma once
#include "sums/solve.h"

namespace bitreplay {

constexpr int64_t kHalf = 15;  // bits of the low part of s

// What `many` classes in the tables have of the matrix goes; a row of a table is [4 many].
void take_out(const Solving& s, int64_t many);

// BR_STORAGE if counts, class sums or products cannot be read, or are no counts. Class after class is read once, so
// that a file's sums need no memory but the matrix.
template <class Source>
int scatter(const Solving& s, Source products, Source counts, Source sums, int64_t classes) {
  int64_t value, count;
  for (int64_t at = 0; at < triangle(s.features); ++at) {
    if (!products.next(&value)) return BR_STORAGE;
    s.set_number(at, left(value, s.point));
  }
  for (int64_t first = 0; first < classes; first += kClasses) {
    const int64_t many = min_of(kClasses, classes - first);
    int32_t *const rows = static_cast<int32_t*>(s.shared), *const columns = rows + 4 * many * s.features;
    for (int64_t m = 0; m < many; ++m) {
      if (!counts.next(&count) || count < 0 || count > kMaxPictures) return BR_STORAGE;
      const int64_t divisor = max_of(count, 1);
      for (int64_t i = 0; i < s.features; ++i) {
        if (!sums.next(&value)) return BR_STORAGE;
        if (!count) value = 0;
        const int64_t q = divide_round(value, divisor), r = value - q * divisor;
        int32_t *l = rows + 4 * many * i + m, *t = columns + 4 * many * i + m;
        l[0] = int32_t(value & ((1 << kHalf) - 1));
        l[many] = int32_t(value >> kHalf);
        l[2 * many] = int32_t(q);
        l[3 * many] = int32_t(r);
        t[0] = int32_t(q);
        t[many] = int32_t(q * (1 << kHalf));
        t[2 * many] = int32_t(r);
        t[3 * many] = int32_t(divide_round(left(r, s.point), divisor));
      }
    }
    take_out(s, many);
  }
  return BR_OK;
}

// Those that s.sums describes, in memory.
static inline void scatter(const Solving& s) {
  const br_sums& sums = *s.sums;
  scatter(s, Numbers{sums.products, sums.bits, 0}, Numbers{sums.counts, 64, 0}, Numbers{sums.class_sums, sums.bits, 0},
          sums.classes);
}

}  // namespace bitreplay
