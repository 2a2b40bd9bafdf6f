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
  int64_t *const scratch = static_cast<int64_t*>(work), largest;
  const InMemory all = {*sums};
  const int wrong = check_sums(all, sums->classes, sums->features, pictures, forgot != 0, scratch, &largest);
  return wrong || !sums->class_products ? wrong : check_class_products(all, sums->classes, sums->features, scratch);
}
