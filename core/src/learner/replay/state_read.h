// A replay state from bytes.
#pragma once
#include "learner/replay/learner.h"

namespace bitreplay {

// The work memory that reading takes.
size_t read_memory_bytes(const ReplayLearner& l);

}  // namespace bitreplay
