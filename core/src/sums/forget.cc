// A class that is forgotten: its products go, where they are kept. Else what its sum s makes of the products goes,
// s s^T / n, rounded; its scatter stays.
// docs/law.md section 13, "Forgetting"; engine/sums.py, `forget`, is the reference.
//
// With s = q n + r, |r| <= n / 2, it is s_i q_j + q_i r_j + r_i r_j / n. Of sums of pictures no square falls below
// those of the pictures that stay; what older versions cut off may lie beyond the bound, and is cut off again.
#include "sums/possible.h"
#include "sums/solve.h"

namespace bitreplay {
namespace {

struct Share {
  const br_sums& sums;
  int64_t features, count;
  int32_t *whole, *rest;  // q and r

  Share(const br_sums& all, uint32_t row, void* work)
      : sums(all), features(all.features), count(all.counts[row]), whole(static_cast<int32_t*>(work)),
        rest(whole + features) {
    for (int64_t i = 0; i < features; ++i) {
      const int64_t sum = sum_at(sums.class_sums, sums.bits, row * features + i);
      whole[i] = int32_t(divide_round(sum, count));
      rest[i] = int32_t(sum - whole[i] * count);
    }
  }

  // What is left of a product.
  int64_t left_at(int64_t i, int64_t j) const {
    const int64_t sum = whole[i] * count + rest[i];
    const int64_t share =
        sum * whole[j] + int64_t(whole[i]) * rest[j] + divide_round(int64_t(rest[i]) * rest[j], count);
    return sum_at(sums.products, sums.bits, triangle(i) + j) - share;
  }

  int64_t bound() const {
    int64_t squares = 0, pictures = -count;
    for (int64_t i = 0; i < features; ++i) squares += left_at(i, i);
    for (uint32_t c = 0; c < sums.classes; ++c) pictures += sums.counts[c];
    return bound_of(pictures, squares, true);
  }
};

bool is_row(const br_sums* sums, uint32_t row, const void* work) {
  return checked_pictures(sums) >= 0 && row < sums->classes && sums->counts[row] > 0 && work;
}

void clear(void* sums, uint32_t bits, int64_t first, int64_t count) {
  for (int64_t at = first; at < first + count; ++at) change_sum(sums, bits, at, -sum_at(sums, bits, at));
}

}  // namespace

void change_all_products(const br_sums& sums, int64_t row, int64_t sign) {
  const uint8_t* const own = class_products_at(sums, row);
  for (int64_t at = 0; at < triangle(sums.features); ++at)
    change_sum(sums.products, sums.bits, at, sign * sum_at(own, sums.bits, at));
}

}  // namespace bitreplay

using namespace bitreplay;

int64_t br_sums_extent_without(const br_sums* sums, uint32_t row, void* work) {
  if (!is_row(sums, row, work)) return -1;
  if (sums->class_products) return checked_pictures(sums) - sums->counts[row];
  const Share share(*sums, row, work);
  int64_t largest = 0;
  for (int64_t i = 0; i < share.features; ++i)
    for (int64_t j = 0; j <= i; ++j) largest = max_of(largest, absolute(share.left_at(i, j)));
  return extent_of(checked_pictures(sums) - share.count, min_of(largest, share.bound()));
}

int br_sums_forget(br_sums* sums, uint32_t row, void* work) {
  if (!is_row(sums, row, work)) return BR_BAD_ARGUMENT;
  if (sums->class_products) {
    change_all_products(*sums, row, -1);
    clear(class_products_at(*sums, row), sums->bits, 0, triangle(sums->features));
  } else {
    const Share share(*sums, row, work);
    const int64_t bound = share.bound();
    for (int64_t i = 0, at = 0; i < share.features; ++i)
      for (int64_t j = 0; j <= i; ++j, ++at) {
        const int64_t product = sum_at(sums->products, sums->bits, at);
        change_sum(sums->products, sums->bits, at, saturate(share.left_at(i, j), -bound, bound) - product);
      }
  }
  clear(sums->class_sums, sums->bits, int64_t(row) * sums->features, sums->features);
  sums->counts[row] = 0;
  return BR_OK;
}
