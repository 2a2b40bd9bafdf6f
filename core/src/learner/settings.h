// Whether two settings, as state files keep them, make the same sums: all that is not about other strategies is equal.
#pragma once
#include "learner/model.h"

namespace bitreplay {

bool same_settings(const Section& ours, const Section& theirs);

}  // namespace bitreplay
