#include "learner/exact/digests.h"

#include <cstring>

namespace bitreplay {
namespace {

void reverse(uint64_t* values, int64_t first, int64_t last) {
  for (--last; first < last; ++first, --last) {
    const uint64_t moved = values[first];
    values[first] = values[last];
    values[last] = moved;
  }
}

// The first that is not below it.
int64_t place_of(const uint64_t* values, int64_t first, int64_t count, uint64_t value) {
  while (count > 0) {
    const int64_t half = count / 2;
    if (values[first + half] < value) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return first;
}

}  // namespace

int64_t Digests::find(int64_t first, int64_t count, uint64_t value) const {
  const int64_t at = place_of(values, first, count, value);
  return at < first + count && values[at] == value ? at : -1;
}

void Digests::insert(int64_t first, int64_t count, int64_t all, uint64_t value) {
  const int64_t at = place_of(values, first, count, value);
  memmove(values + at + 1, values + at, size_t(all - at) * sizeof *values);
  values[at] = value;
}

void Digests::erase(int64_t at, int64_t count, int64_t all) {
  memmove(values + at, values + at + count, size_t(all - at - count) * sizeof *values);
}

void Digests::rotate(int64_t first, int64_t middle, int64_t last) {
  reverse(values, first, middle);
  reverse(values, middle, last);
  reverse(values, first, last);
}

}  // namespace bitreplay
