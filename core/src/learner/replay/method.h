// What replay needs of the settings, from the text that models and state files carry.
#pragma once
#include "learner/model.h"

namespace bitreplay {

struct Method {
  uint64_t seed;
  uint32_t memory_per_class, epochs, min_steps, batch_size, replay_batch_size;
  Section rate;  // text of a fraction: the rate that was given, or gain / power of the model
  int rate_kind;
};

// False: the text is none, or asks for what C does not have. `fitted` is the rate where the settings name none.
bool read_method(const Section& settings, const Section& fitted, Method* method);
// Whether a state learned with `theirs` can go on with programs and memory made for `ours`.
bool same_method(const Section& ours, const Section& theirs);

}  // namespace bitreplay
