// Digests of all pictures that were learned, 8 bytes each: the twin of parts/digests.py, with the setting `digests`
// alone. They stand class after class, as many as a class has pictures, sorted within it. A call takes the number of
// the first digest of a class, of its digests, and of all.
#pragma once
#include <cstdint>

namespace bitreplay {

uint64_t digest_of(const int8_t* x, uint32_t features);

struct Digests {
  uint64_t* values;
  int64_t room;

  bool has_room_for(int64_t pictures) const { return !values || pictures <= room; }
  // Where it is, or -1.
  int64_t find(int64_t first, int64_t count, uint64_t value) const;
  void insert(int64_t first, int64_t count, int64_t all, uint64_t value);
  void erase(int64_t at, int64_t count, int64_t all);
  // What lies in [first, middle) goes behind what lies in [middle, last).
  void rotate(int64_t first, int64_t middle, int64_t last);
};

}  // namespace bitreplay
