// The settings that replay needs, from the text in models and state files.
#pragma once
#include "learner/model.h"

namespace bitreplay {

struct Method {
  uint64_t seed;
  uint32_t memory_per_class, epochs, min_steps, batch_size, replay_batch_size;
  Section rate;  // text of a fraction: the learning rate of the settings, or gain / power of the model
  int rate_kind;
};

// False if the text is malformed or needs something that C does not have. `fitted` is the rate if the settings have
// none.
bool read_method(const Section& settings, const Section& fitted, Method* method);
// Whether a state learned with `theirs` can go on with programs and memory made for `ours`.
bool same_method(const Section& ours, const Section& theirs);

}  // namespace bitreplay
