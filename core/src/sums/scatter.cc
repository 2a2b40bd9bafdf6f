// n S = G - sum_c s s^T / n_c, and n A: its diagonal raised by lambda D.
//
// With s = q n_c + r, s_i s_j / n_c = s_i q_j + q_i r_j + r_i r_j / n_c. For a few classes at a time, row i of the
// first table holds the low and high parts of s_i, then q_i and r_i; row j of the second what they are multiplied by.
// So an entry is two sums of products of rows.
#include "sums/solve.h"

namespace bitreplay {
namespace {

constexpr int64_t kHalf = 15;  // bits of the low part of s

// Tables of `many` classes from the list of those that have pictures; a row is [4 many].
void fill(const Solving& s, const int64_t* classes, int64_t many, int32_t* rows, int32_t* columns) {
  for (int64_t m = 0; m < many; ++m) {
    const int64_t c = classes[m], count = s.sums->counts[c];
    for (int64_t i = 0; i < s.features; ++i) {
      const int64_t sum = s.class_sum(c, i), q = divide_round(sum, count), r = sum - q * count;
      int32_t *l = rows + 4 * many * i + m, *t = columns + 4 * many * i + m;
      l[0] = int32_t(sum & ((1 << kHalf) - 1));
      l[many] = int32_t(sum >> kHalf);
      l[2 * many] = int32_t(q);
      l[3 * many] = int32_t(r);
      t[0] = int32_t(q);
      t[many] = int32_t(q * (1 << kHalf));
      t[2 * many] = int32_t(r);
      t[3 * many] = int32_t(divide_round(left(r, s.point), count));
    }
  }
}

void take_out(const Solving& s, const int32_t* rows, const int32_t* columns, int64_t many) {
  const int64_t whole = 3 * many, last = s.features - 1;
  for (int64_t i = 0; i < s.features; i += 4)
    for (int64_t j = 0; j <= i; j += 4) {
      const int32_t *a[4], *b[4], *fine_a[4], *fine_b[4];
      for (int64_t t = 0; t < 4; ++t) {
        a[t] = rows + 4 * many * min_of(i + t, last);
        b[t] = columns + 4 * many * min_of(j + t, last);
        fine_a[t] = a[t] + whole;
        fine_b[t] = b[t] + whole;
      }
      int64_t sums[16], fine[16];
      s.kernels->row_products(a, b, 4, whole, sums);
      s.kernels->row_products(fine_a, fine_b, 4, many, fine);
      for (int64_t r = i; r < min_of(i + 4, s.features); ++r)
        for (int64_t k = j; k < min_of(j + 4, r + 1); ++k) {
          const int64_t at = 4 * (r - i) + k - j, place = triangle(r) + k;
          s.set_number(place, sub(s.number(place), add(left(sums[at], s.point), fine[at])));
        }
    }
}

}  // namespace

void scatter(const Solving& s) {
  const int64_t entries = triangle(s.features);
  for (int64_t at = 0; at < entries; ++at) s.set_number(at, left(sum_at(s.sums->products, s.sums->bits, at), s.point));
  int64_t classes[kClasses], many = 0;
  for (int64_t c = 0; c <= s.sums->classes; ++c) {
    if (c < s.sums->classes && s.sums->counts[c]) classes[many++] = c;
    if (many == kClasses || (c == s.sums->classes && many)) {
      int32_t *rows = static_cast<int32_t*>(s.shared), *columns = rows + 4 * many * s.features;
      fill(s, classes, many, rows, columns);
      take_out(s, rows, columns, many);
      many = 0;
    }
  }
}

void shrink(const Solving& s, const br_sums_part* parts, uint32_t part_count, const br_shrinkage& shrinkage) {
  int64_t end = 0;
  for (uint32_t p = 0; p < part_count; ++p) {
    const br_sums_part part = with_lambda(parts[p], shrinkage, s.pictures, s.features);
    const int64_t start = end, length = part.length;
    end += length;
    int64_t mean = 0, remainders = 0;
    for (int64_t i = start; i < end; ++i) {
      const int64_t value = max_of(s.number(triangle(i) + i), 0);
      mean += value / length;
      remainders += value % length;
    }
    mean += remainders / length;
    int64_t ridge = left(s.pictures, s.point);
    if (mean) {
      const int64_t whole = mean / part.bottom, remainder = mean % part.bottom;
      ridge = max_of(whole * part.top + remainder * part.top / part.bottom, 1);
    }
    if (s.ridges) s.ridges[p] = ridge;
    for (int64_t i = start; i < end; ++i) {
      const int64_t at = triangle(i) + i;
      s.set_number(at, max_of(s.number(at), 0) + ridge);
    }
  }
}

}  // namespace bitreplay
