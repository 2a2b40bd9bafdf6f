// Parses and checks a state file. Its texts go to the work memory; its arrays stay in the file.
#pragma once
#include "learner/exact/learner.h"
#include "learner/state/frame.h"
#include "sums/check.h"

namespace bitreplay {

enum Array { kSizes, kValues, kClassProducts, kClassSums, kCounts, kProducts, kArrays };  // by name
// Its section in the state of a learner with these classes, pictures and bits of the sums.
struct Shape {
  uint64_t classes, features, pictures;
  uint32_t bits;
  bool digests, class_products;

  bool has(int array) const;
  br_section section(int array) const;
};
Shape shape_of(const ExactLearner& learner);

// The numbers of an array in a file, or where the learner has it, one after another.
struct Values {
  Input in;
  Numbers memory;  // of none: in the file

  bool next(int64_t* value) {
    if (memory.sums) return memory.next(value);
    if (memory.bits == 64) return in.bytes(value, 8);
    int32_t narrow = 0;
    const bool read = in.bytes(&narrow, 4);
    *value = narrow;
    return read;
  }
};

struct ParsedState {
  File file;
  Known known;
  char* settings;
  size_t settings_size;
  int64_t* counts;
  Shape shape;
  uint64_t at[kArrays], bytes[kArrays];  // of the arrays, in the file
  int64_t pictures;

  uint32_t bits(Array array) const {
    return array == kClassSums || array == kProducts || array == kClassProducts ? shape.bits : 64;
  }
  // From a number on.
  Values values(Array array, int64_t first = 0) const {
    return {file.in(at[array] + bits(array) / 8 * uint64_t(first)), {nullptr, bits(array), 0}};
  }
  int64_t count(int64_t row) const { return counts[row]; }
  Values class_sums(int64_t row) const { return values(kClassSums, row * int64_t(shape.features)); }
  Values products() const { return values(kProducts); }
  Values class_products(int64_t row) const { return values(kClassProducts, row * triangle(int64_t(shape.features))); }
};

// The work memory of reading: two parsed files, and scratch for sums.
struct ReadMemory {
  ParsedState state, base;
  OldState old;  // of one of them, while it is parsed
  int64_t* scratch;

  ReadMemory(const ExactLearner& learner, BumpAllocator& allocator);
};
// The size of a ReadMemory.
size_t read_memory_bytes(const ExactLearner& learner);

// Parses and checks a whole file, except for the factor of its sums.
int parse_state(const ExactLearner& learner, const File& file, ReadMemory* memory, ParsedState* parsed);
// Parses a file that was checked before, after the work memory was used for something else.
int parse_again(const ExactLearner& learner, const File& file, ReadMemory* memory, ParsedState* parsed);
// Checks that the scatter of a parsed file has a factor; uses all of the work memory. BR_IMPOSSIBLE, BR_STORAGE.
int check_factor(ExactLearner* learner, const ParsedState& parsed);

}  // namespace bitreplay
