// Digests (br_mark) of all images that were learned: parts/digests.py, only with the setting `digests`.
// They are stored class after class, sorted within a class. Functions take the index of the first digest of a class,
// the number of its digests, and the number of all.
#pragma once
#include <cstdint>

namespace bitreplay {

struct Digests {
  uint64_t* values;
  int64_t room;

  bool has_room_for(int64_t pictures) const { return !values || pictures <= room; }
  // The index of the digest, or -1.
  int64_t find(int64_t first, int64_t count, uint64_t value) const;
  void insert(int64_t first, int64_t count, int64_t all, uint64_t value);
  void erase(int64_t at, int64_t count, int64_t all);
  // Moves [first, middle) behind [middle, last).
  void rotate(int64_t first, int64_t middle, int64_t last);
};

}  // namespace bitreplay
