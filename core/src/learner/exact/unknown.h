// Out-of-distribution images and the temperature of probabilities. Both need the discriminant, which must be computed.
#pragma once
#include "bitreplay_ood.h"
#include "learner/exact/learner.h"

namespace bitreplay {

constexpr uint32_t kLargestShare = 1 << 16;  // a share of 1

void place_unknown(br_learner* learner, BumpAllocator& allocator);
size_t ood_memory_bytes(const br_learner& learner);
// Of the work memory.
size_t making_bytes(const br_learner& learner);
// The discriminant before its means are shrunk; with the option `factor` its factor is kept.
int solve(br_learner* learner);
// After `solve` and the shrinking: what it kept is used at once, while the work memory still has the rest of it.
int expect_at_once(br_learner* learner);
// Fills learner->ood.
int expect(br_learner* learner);
// x has the features of an image whose best score is `best`; it must lie outside the work memory.
int is_unknown(br_learner* learner, const int8_t* x, int64_t best, uint32_t share, uint32_t* unknown);

}  // namespace bitreplay
