// The settings that replay needs, from those of models and state files.
#pragma once
#include "learner/state/settings.h"

namespace bitreplay {

struct Method {
  uint64_t seed;
  uint32_t memory_per_class, epochs, min_steps, batch_size, replay_batch_size;
  Fraction rate;   // the learning rate of the settings, or 0, 0
  Section fitted;  // text of a fraction: gain / power of the model
  int rate_kind;
};

// False if the settings need something that C does not have. `fitted` is the rate if they have none.
bool read_method(const Section& settings, const Section& fitted, Method* method);
// br_rate of the step after `done` of `steps`.
int rate_at(const Method& method, uint64_t done, uint64_t steps, int64_t* mantissa, int64_t* shift);

// Settings that are only read while learning, and those of other strategies: compare_settings.
extern const char* const kFreeInReplay[];

}  // namespace bitreplay
