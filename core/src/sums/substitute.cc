// L z = h, then L^T w = z, for one class: docs/law.md section 13, "Solution". Four rows of the factor at a time.
#include "sums/solve.h"

namespace bitreplay {
namespace {

constexpr int64_t kRoom = 20;

struct Quotient {
  int64_t high, low;
};

Quotient quotient(int64_t rest, int64_t root) {
  if (!root) return {0, 0};
  const int64_t high = saturate(divide_round(rest, root), -kLimit, kLimit);
  const int64_t remainder = left(sub(rest, high * root), kLow);
  const int64_t half = int64_t(1) << (kLow - 1);
  return {high, saturate(divide_round(remainder, root), -half, half)};
}

// z, in high and low; the sum of the squares of high, or -1 where it does not fit. Above the first number that is not 0
// z is 0 too, and nothing is multiplied by it.
int64_t forward(const Solving& s, int64_t shift, int32_t* high, int32_t* low) {
  int64_t squares = 0, start = 0;
  while (start + 4 < s.features && !(s.means[start] | s.means[start + 1] | s.means[start + 2] | s.means[start + 3]))
    start += 4;
  memset(high, 0, size_t(start) * sizeof *high);
  memset(low, 0, size_t(start) * sizeof *low);
  for (int64_t first = start; first < s.features; first += 4) {
    const int32_t *rows[4], *solved[4] = {high + start, low + start, high + start, low + start};
    for (int64_t t = 0; t < 4; ++t) rows[t] = s.row(min_of(first + t, s.features - 1)) + start;
    int64_t sums[16];
    s.kernels->row_products(rows, solved, 2, first - start, sums);
    for (int64_t j = first; j < min_of(first + 4, s.features); ++j) {
      const int32_t* row = rows[j - first] - start;
      int64_t rest = sub(round_shift(s.means[j], s.halves[j] + shift), sums[4 * (j - first)]);
      int64_t fine = sums[4 * (j - first) + 1];
      for (int64_t k = first; k < j; ++k) {
        rest = sub(rest, int64_t(row[k]) * high[k]);
        fine = add(fine, int64_t(row[k]) * low[k]);
      }
      const Quotient found_here = quotient(sub(rest, round_shift(fine, kLow)), row[j]);
      high[j] = int32_t(found_here.high);
      low[j] = int32_t(found_here.low);
      squares += found_here.high * found_here.high;
      if (squares > int64_t(1) << 60) return -1;
    }
  }
  return squares;
}

// s.means is z 2^16 + z'. Whether w fits.
bool backward(const Solving& s, int64_t shift, int32_t* high, int32_t* low) {
  for (int64_t j = 0; j < s.features; ++j) {
    s.rest[j] = left(round_shift(s.means[j], shift), kOne - kLow);
    s.fine[j] = 0;
  }
  int64_t squares = 0;
  const int64_t limit = (int64_t(1) << 62) / s.features;
  for (int64_t first = (s.features - 1) / 4 * 4; first >= 0; first -= 4) {
    const int32_t* rows[4];
    int32_t highs[4] = {}, lows[4] = {};
    for (int64_t t = 0; t < 4; ++t) rows[t] = s.row(min_of(first + t, s.features - 1));
    for (int64_t j = min_of(first + 4, s.features) - 1; j >= first; --j) {
      const int32_t* row = rows[j - first];
      const Quotient solved = quotient(sub(s.rest[j], round_shift(s.fine[j], kLow)), row[j]);
      highs[j - first] = high[j] = int32_t(solved.high);
      lows[j - first] = low[j] = int32_t(solved.low);
      squares += solved.high * solved.high;
      if (squares > limit) return false;
      for (int64_t k = first; k < j; ++k) {
        s.rest[k] = sub(s.rest[k], int64_t(row[k]) * solved.high);
        s.fine[k] = add(s.fine[k], int64_t(row[k]) * solved.low);
      }
    }
    s.kernels->take_away(rows, first, highs, lows, s.rest, s.fine);
  }
  return true;
}

}  // namespace

int64_t top_of(const Solving& s) {
  int64_t top = -kLargestShift;
  for (int64_t i = 0; i < s.features; ++i) top = max_of(top, bit_length(s.means[i]) - s.halves[i]);
  return top;
}

int64_t forward_fitting(const Solving& s, int64_t top, int32_t* high, int32_t* low, int64_t* squares) {
  int64_t room = kRoom;
  while ((*squares = forward(s, top - room - kOne, high, low)) < 0) room -= 4;
  return room;
}

int64_t substitute(const Solving& s, int32_t* high, int32_t* low) {
  int64_t shift = 0, squares;
  const int64_t top = top_of(s), room = forward_fitting(s, top, high, low, &squares);
  for (int64_t i = 0; i < s.features; ++i) s.means[i] = left(high[i], kLow) + low[i];
  while (!backward(s, shift, high, low)) shift += 4;
  return kMeanBits + kLow + room - top - shift;
}

}  // namespace bitreplay
