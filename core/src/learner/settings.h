// Settings, as state files keep them.
#pragma once
#include "learner/model.h"

namespace bitreplay {

// Whether they make the same sums: all that is not about other strategies is equal.
bool same_settings(const Section& ours, const Section& theirs);
// `unknown`, 16 bits behind the point and above 0 if it is; 0 where it is not a fraction below 1.
uint32_t unknown_share(const Section& settings);

}  // namespace bitreplay
