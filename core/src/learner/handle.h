// What a learner of either strategy begins with: learner.cc knows by it whose functions to call.
#pragma once
#include "bitreplay_learner.h"
#include "learner/model.h"
#include "learner/state/file.h"

namespace bitreplay {

enum class Strategy : uint32_t { exact, replay };

// The limit of a state's counters: parts/part.py. A change that would reach it is refused.
constexpr int64_t kMaxCounted = int64_t(1) << 62;
// A run on one image, which draws no random numbers.
constexpr br_run_args kOneImage = {.seed = 0, .step = 0, .samples = 1, .rate_mantissa = 0, .rate_shift = 0};

// Replaces what was learned by a state that the learner itself wrote.
int read_own(br_learner* learner, const File& file);
// Between br_learner_begin and br_learner_end.
bool is_learning(const br_learner* learner);

}  // namespace bitreplay

struct br_learner {
  bitreplay::Strategy strategy;
  uint32_t side;      // of the network's images
  bool past_is_gone;  // something was forgotten since the last save
  br_learner_memory memory_used;
  br_learner_options options;
  bitreplay::Model model;
  char* settings;  // [options.settings_bytes], as the state has them
  size_t settings_size;
};
