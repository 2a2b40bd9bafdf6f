// What a state file says, checked: its texts in the work memory until it is believed, its arrays where they are.
#pragma once
#include "learner/exact/learner.h"
#include "learner/exact/state_layout.h"
#include "learner/state/header.h"
#include "learner/state/input.h"

namespace bitreplay {

struct File {
  br_read* read;
  void* context;
  size_t size;

  In in(uint64_t offset) const { return In(read, context, size, size_t(offset)); }
};

struct Found {
  Known known;
  char* settings;
  size_t settings_size;
  int64_t* counts;
  Shape shape;
  uint64_t arrays_at;
  int64_t pictures;
};

// The work memory of reading: two files at a time, and numbers to add up.
struct Reading {
  Found state, base;
  int64_t* scratch;

  Reading(const br_learner& learner, Places& places);
};
// The bytes of a Reading.
size_t reading_bytes(const br_learner& learner);

// The whole file, everything that can be wrong but its factor.
int find(const br_learner& learner, const File& file, int64_t* scratch, Found* found);
// What a file that was found right says, once more, after the work memory was used for something else.
int find_again(const br_learner& learner, const File& file, Found* found);
// Whether the scatter of a file that was found right has a factor, in all of the work memory: BR_IMPOSSIBLE,
// BR_STORAGE.
int check_factor(br_learner* learner, const File& file, const Found& found);

// What the learner knows from now on: state_read.cc. `outside`: its factor is tried too.
int read_state(br_learner* learner, const File& file, bool outside);

// The next of an array's numbers.
inline bool element(In& in, uint32_t bits, int64_t* value) {
  if (bits == 64) return in.bytes(value, 8);
  int32_t narrow;
  const bool read = in.bytes(&narrow, 4);
  *value = narrow;
  return read;
}

}  // namespace bitreplay
