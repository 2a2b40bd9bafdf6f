#include "sums/contain.h"

using namespace bitreplay;

int br_sums_contain(const br_sums* sums, const br_sums* part, const int32_t* rows, int forgot, void* work) {
  if (checked_pictures(sums) < 0 || checked_pictures(part) < 0 || sums->features != part->features || !rows || !work)
    return BR_BAD_ARGUMENT;
  if (reinterpret_cast<uintptr_t>(work) % 8) return BR_MISALIGNED;
  for (uint32_t row = 0; row < sums->classes; ++row)
    if (rows[row] >= int64_t(part->classes)) return BR_BAD_ARGUMENT;
  const auto row_of = [&](int64_t row) { return int64_t(rows[row]); };
  return contain(InMemory{*sums}, InMemory{*part}, sums->classes, sums->features, row_of, forgot != 0,
                 static_cast<int64_t*>(work));
}
