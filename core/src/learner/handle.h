// What a learner of either strategy begins with: learner.cc knows by it whose functions to call.
#pragma once
#include "bitreplay_learner.h"

namespace bitreplay {

enum class Strategy : uint32_t { exact, replay };

}  // namespace bitreplay

struct br_learner {
  bitreplay::Strategy strategy;
};
