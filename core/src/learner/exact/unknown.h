// "Unknown" and temperature, both of the learner's discriminant, which is made already.
#pragma once
#include "bitreplay_ood.h"
#include "learner/exact/learner.h"

namespace bitreplay {

constexpr uint32_t kLargestShare = 1 << 16;  // 1 as a share of pictures

void place_unknown(br_learner* learner, BumpAllocator& allocator);
size_t ood_memory_bytes(const br_learner& learner);
// Of the work memory.
size_t making_bytes(const br_learner& learner);
// The discriminant before its means are shrunk; with the option `factor` its factor is kept.
int solve(br_learner* learner);
// After `solve` and the shrinking: what it kept is used at once, while the work memory still has the rest of it.
int expect_at_once(br_learner* learner);
// Fills learner->unseen.
int expect(br_learner* learner);
// x has the features of an image whose best score is `best`; it must lie outside the work memory.
int is_unknown(br_learner* learner, const int8_t* x, int64_t best, uint32_t share, uint32_t* unknown);

}  // namespace bitreplay
