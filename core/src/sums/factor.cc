// The Cholesky factor of the scaled matrix, 30 bits behind the point: docs/law.md section 13, "Scale" and "Factor".
//
// Rows are made kRows at a time. Their elements are copied, scaled, before the factor is written over them; then, four
// columns by four, the products of earlier columns are one kernel call for four rows, and the rest is done entry by
// entry.
#include "sums/solve.h"

namespace bitreplay {
namespace {

constexpr int64_t kSmallestPivot = int64_t(1) << 36;

void scale_row(const Solving& s, int64_t i, int64_t* scaled) {
  for (int64_t j = 0; j <= i; ++j) {
    const int64_t both = s.halves[i] + s.halves[j], limit = int64_t(1) << both;
    scaled[j] = round_shift(saturate(s.number(triangle(i) + j), -limit, limit), both - 2 * kOne);
  }
}

// Divides by the same number again and again.
struct Divisor {
  int64_t by = 0;
  uint64_t inverse = 0;

  // divide_round(a, divisor), |a| < 2^63. With the inverse rounded down, |a| / divisor is too small by one at most.
  int64_t round(int64_t a, int64_t divisor) {
#ifdef __SIZEOF_INT128__
    if (by != divisor) {
      by = divisor;
      inverse = ~uint64_t(0) / uint64_t(divisor);
    }
    const uint64_t magnitude = a < 0 ? uint64_t(0) - uint64_t(a) : uint64_t(a), d = uint64_t(divisor);
    uint64_t quotient = uint64_t((static_cast<unsigned __int128>(magnitude) * inverse) >> 64);
    uint64_t remainder = magnitude - quotient * d;
    const bool one_more = remainder >= d;
    quotient += one_more;
    remainder -= one_more ? d : 0;
    quotient += 2 * remainder >= d;
    return int64_t(a < 0 ? uint64_t(0) - quotient : quotient);
#else
    return divide_round(a, divisor);
#endif
  }
};

struct Rows {
  const Solving& s;
  int64_t first, last;  // of these
  const int64_t* scaled;
  uint32_t dropped_features;
  Divisor divisors[4];  // of four columns

  int32_t* row(int64_t i) const { return reinterpret_cast<int32_t*>(s.matrix) + triangle(i); }

  // Columns first_column to first_column + 3, before the diagonal, of four rows.
  void columns(int64_t four, int64_t first_column) {
    const int32_t *left[4], *right[4];
    for (int64_t t = 0; t < 4; ++t) {
      left[t] = row(min_of(four + t, last));
      right[t] = row(min_of(first_column + t, s.features - 1));
    }
    int64_t sums[16];
    s.kernels->row_products(left, right, 4, first_column, sums);
    for (int64_t i = four; i <= min_of(four + 3, last); ++i) {
      int32_t* entries = row(i);
      const int64_t* values = scaled + (i - first) * s.features;
      for (int64_t j = first_column; j < min_of(first_column + 4, i); ++j) {
        const int32_t* other = row(j);
        int64_t rest = sub(values[j], sums[4 * (i - four) + j - first_column]);
        for (int64_t k = first_column; k < j; ++k) rest = sub(rest, int64_t(entries[k]) * other[k]);
        entries[j] =
            other[j] ? int32_t(saturate(divisors[j - first_column].round(rest, other[j]), -kLimit, kLimit)) : 0;
      }
      if (i < first_column + 4) finish(i, values[i]);
    }
  }

  void finish(int64_t i, int64_t diagonal) {
    int32_t* entries = row(i);
    // Four sums of every fourth square, none of which can wrap.
    constexpr int64_t limit = int64_t(1) << 61;
    int64_t sums[4] = {};
    for (int64_t k = 0; k < i; ++k) sums[k % 4] = min_of(sums[k % 4] + int64_t(entries[k]) * entries[k], limit);
    const int64_t pivot = diagonal - min_of(min_of(sums[0] + sums[1], limit) + min_of(sums[2] + sums[3], limit), limit);
    if (pivot < kSmallestPivot) {
      memset(entries, 0, size_t(i + 1) * sizeof *entries);
      ++dropped_features;
    } else {
      entries[i] = int32_t(root_below(pivot));
    }
  }
};

}  // namespace

uint32_t factor(const Solving& s) {
  for (int64_t i = 0; i < s.features; ++i) s.halves[i] = (bit_length(s.number(triangle(i) + i)) + 1) / 2;
  int64_t* scaled = static_cast<int64_t*>(s.shared);
  uint32_t dropped_features = 0;
  for (int64_t first = 0; first < s.features; first += kRows) {
    Rows rows = {s, first, min_of(first + kRows, s.features) - 1, scaled, 0, {}};
    for (int64_t i = first; i <= rows.last; ++i) scale_row(s, i, scaled + (i - first) * s.features);
    for (int64_t column = 0; column <= rows.last; column += 4)
      for (int64_t four = max_of(first, column); four <= rows.last; four += 4) rows.columns(four, column);
    dropped_features += rows.dropped_features;
  }
  return dropped_features;
}

}  // namespace bitreplay
