// What discriminant.cc and answer.cc share.
#pragma once
#include "sums/bump_allocator.h"
#include "sums/solve.h"

namespace bitreplay {

// The work memory of an answer; scores come first, and are all that a label needs.
struct AnswerMemory {
  int64_t* scores;
  uint8_t* lengths;
  int16_t* away;

  AnswerMemory(uint32_t features, uint32_t classes, BumpAllocator& allocator);
};

// The factor: that which is kept, or a new one behind the AnswerMemory of `work`. Fills d->ood if it is not.
int factor_of(br_discriminant* d, void* work, br_factor* factor);

}  // namespace bitreplay
