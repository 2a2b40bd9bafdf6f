// n S = G - sum_c s s^T / n_c, what classes have of it, and n A: its diagonal raised by lambda D. scatter.h walks the
// classes.
#include "sums/scatter.h"

namespace bitreplay {

void take_out(const Solving& s, int64_t many) {
  const int32_t *const rows = static_cast<int32_t*>(s.shared), *const columns = rows + 4 * many * s.features;
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

int64_t mean_of_diagonal(const Solving& s, int64_t start, int64_t length) {
  int64_t mean = 0, remainders = 0;
  for (int64_t i = start; i < start + length; ++i) {
    const int64_t value = max_of(s.number(triangle(i) + i), 0);
    mean += value / length;
    remainders += value % length;
  }
  return mean + remainders / length;
}

void shrink(const Solving& s, const br_sums_part* parts, uint32_t part_count, const br_shrinkage& shrinkage) {
  int64_t end = 0;
  for (uint32_t p = 0; p < part_count; ++p) {
    const br_sums_part part = with_lambda(parts[p], shrinkage, s.pictures, s.features);
    const int64_t start = end, mean = mean_of_diagonal(s, start, part.length);
    end += part.length;
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
