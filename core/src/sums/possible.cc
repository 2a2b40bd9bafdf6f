// Whether sums in memory can be those of pictures: docs/law.md section 13, "Possible".
#include "sums/possible.h"

using namespace bitreplay;

namespace {

int64_t square_at(const br_sums* s, int64_t i) { return sum_at(s->products, s->bits, triangle(i) + i); }

bool rows_are_possible(const br_sums* s, int64_t pictures, bool forgot, int64_t* min_squares) {
  const int64_t features = s->features;
  for (int64_t i = 0; i < features; ++i) min_squares[i] = 0;
  for (int64_t c = 0, at = 0; c < s->classes; ++c)
    for (int64_t i = 0; i < features; ++i, ++at) {
      const int64_t sum = sum_at(s->class_sums, s->bits, at), count = s->counts[c];
      if (!is_within(sum, kLargestNumber * count)) return false;
      if (count) min_squares[i] += min_square(sum, count);
    }
  for (int64_t i = 0; i < features; ++i)
    if (!is_square(square_at(s, i), min_squares[i], pictures, forgot)) return false;
  return true;
}

template <typename Sum>
bool products_are_possible(const br_sums* s, int64_t pictures, bool forgot, uint32_t* roots) {
  int64_t squares = 0;
  for (int64_t i = 0; i < s->features; ++i) squares += square_at(s, i);
  const int64_t largest = bound_of(pictures, squares, forgot);
  const Sum* product = static_cast<const Sum*>(s->products);
  for (int64_t i = 0; i < s->features; ++i) roots[i] = forgot ? 0 : root_above(square_at(s, i));
  for (int64_t i = 0; i < s->features; ++i) {
    bool fit = true;
    for (int64_t j = 0; j <= i; ++j) fit &= is_within(product[j], largest);
    for (int64_t j = 0; fit && !forgot && j <= i; ++j)
      if (!is_product(product[j], roots[i], roots[j])) fit = false;
    if (!fit) return false;
    product += i + 1;
  }
  return true;
}

}  // namespace

int64_t br_sums_extent(const br_sums* sums) {
  const int64_t pictures = checked_pictures(sums);
  if (pictures < 0) return -1;
  int64_t low = 0, high = 0;
  for (int64_t at = 0; at < triangle(sums->features); ++at) {
    const int64_t product = sum_at(sums->products, sums->bits, at);
    low = min_of(low, product);
    high = max_of(high, product);
  }
  return extent_of(pictures, max_of(high, low < -INT64_MAX ? INT64_MAX : -low));
}

int br_sums_possible(const br_sums* sums, int forgot, void* work) {
  const int64_t pictures = checked_pictures(sums);
  if (pictures < 0 || !work) return BR_BAD_ARGUMENT;
  if (reinterpret_cast<uintptr_t>(work) % 8) return BR_MISALIGNED;
  if (!rows_are_possible(sums, pictures, forgot != 0, static_cast<int64_t*>(work))) return BR_IMPOSSIBLE;
  uint32_t* const roots = static_cast<uint32_t*>(work);
  const bool right = sums->bits == 32 ? products_are_possible<int32_t>(sums, pictures, forgot != 0, roots)
                                      : products_are_possible<int64_t>(sums, pictures, forgot != 0, roots);
  return right ? BR_OK : BR_IMPOSSIBLE;
}
