// Parses and checks a state file. Its texts go to the work memory; its arrays stay in the file.
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

  Input in(uint64_t offset) const { return Input(read, context, size, size_t(offset)); }
};

struct ParsedState {
  Known known;
  char* settings;
  size_t settings_size;
  int64_t* counts;
  Shape shape;
  uint64_t arrays_at;
  int64_t pictures;
};

// The work memory of reading: two parsed files, and scratch for sums.
struct ReadMemory {
  ParsedState state, base;
  int64_t* scratch;

  ReadMemory(const br_learner& learner, BumpAllocator& allocator);
};
// The size of a ReadMemory.
size_t read_memory_bytes(const br_learner& learner);

// Parses and checks a whole file, except for the factor of its sums.
int parse_state(const br_learner& learner, const File& file, int64_t* scratch, ParsedState* parsed);
// Parses a file that was checked before, after the work memory was used for something else.
int parse_again(const br_learner& learner, const File& file, ParsedState* parsed);
// Checks that the scatter of a parsed file has a factor; uses all of the work memory. BR_IMPOSSIBLE, BR_STORAGE.
int check_factor(br_learner* learner, const File& file, const ParsedState& parsed);

// Replaces what was learned by the file's state: state_read.cc. `untrusted`: the factor is checked too.
int read_state(br_learner* learner, const File& file, bool untrusted);

// The next element of an array.
inline bool element(Input& in, uint32_t bits, int64_t* value) {
  if (bits == 64) return in.bytes(value, 8);
  int32_t narrow;
  const bool read = in.bytes(&narrow, 4);
  *value = narrow;
  return read;
}

}  // namespace bitreplay
