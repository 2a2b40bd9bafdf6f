// Whether sums in memory can be those of pictures: docs/law.md section 13, "Possible".
#include "sums/possible.h"

using namespace bitreplay;

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
  int64_t largest;
  const int wrong = check_sums(InMemory{*sums}, sums->classes, sums->features, pictures, forgot != 0,
                               static_cast<int64_t*>(work), &largest);
  if (wrong || !sums->class_products) return wrong;
  br_sums one = *sums;
  one.classes = 1;
  one.class_products = nullptr;
  for (uint32_t c = 0; c < sums->classes; ++c) {
    one.counts = sums->counts + c;
    one.class_sums = static_cast<uint8_t*>(sums->class_sums) + size_t(sums->bits / 8) * c * sums->features;
    one.products = class_products_at(*sums, c);
    if (const int impossible = br_sums_possible(&one, 0, work)) return impossible;
  }
  const int64_t entries = triangle(sums->features);
  for (int64_t at = 0; at < entries; ++at) {
    int64_t left = sum_at(sums->products, sums->bits, at);
    for (int64_t c = 0; c < sums->classes; ++c) left -= sum_at(sums->class_products, sums->bits, c * entries + at);
    if (left) return BR_IMPOSSIBLE;
  }
  return BR_OK;
}
