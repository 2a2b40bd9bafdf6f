/* The parts of replay around the tail, in integer arithmetic: reservoir sampling, drawing from the replay memory,
 * epochs and their minibatches, CWR* and learning rates (docs/law.md section 10). The strategy replay
 * (bitreplay_learner.h) is made of these; use them for a training loop of your own. All memory is the caller's; nothing
 * is kept between calls. Functions that return int return BR_OK or BR_BAD_ARGUMENT unless they say otherwise. */
#ifndef BITREPLAY_METHOD_H
#define BITREPLAY_METHOD_H
#include "bitreplay.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reservoir sampling: the slot for the next sample of class `label`, or -1 to drop it. `seen` samples of the class were
 * offered before, and `held` of its `slots` slots are used. */
BR_API int64_t br_reservoir_slot(uint64_t seed, uint32_t label, uint64_t seen, uint32_t held, uint32_t slots);

/* Draws `count` of `stored` samples (1 to 2^31 - 1) into picked[count]: without replacement if there are enough, else
 * with replacement. `draw` numbers the draws of a training run. exchanged[2 count] is work space. Takes time that grows
 * with the square of `count`. */
BR_API int br_draw(uint64_t seed, uint64_t draw, uint32_t stored, uint32_t count, uint32_t* exchanged,
                   uint32_t* picked);

/* The epochs of an experience of 1 or more samples: `epochs`, or as many as make `min_steps` minibatches. Sizes are 1
 * or more, here and below. */
BR_API uint64_t br_epochs(uint64_t samples, uint32_t batch_size, uint32_t epochs, uint32_t min_steps);
/* The stored samples that join `fresh` new ones: replay_batch_size in a whole minibatch, in a short one in proportion,
 * rounded up. */
BR_API uint32_t br_replayed(uint32_t fresh, uint32_t batch_size, uint32_t replay_batch_size);

/* Shuffles the samples of an epoch: sample i of the new order is the low 32 bits of keys[i], for keys[samples]. */
BR_API int br_epoch_order(uint64_t seed, uint64_t experience, uint64_t epoch, uint32_t samples, uint64_t* keys);

/* CWR*: merges the weights `tw`, trained in this experience, into the consolidated weights `cw`, and adds `present` to
 * `past`. Weights are [classes][columns] with the bias last; past[classes] and present[classes] are numbers of samples,
 * before and in this experience. At least one class must be present. */
BR_API int br_consolidate(int32_t* cw, const int32_t* tw, int64_t* past, const int64_t* present, uint32_t classes,
                          uint32_t columns);

/* BR_RATE_GIVEN: `top_bottom` is the initial learning rate. The others: it is gain / power of the model, and the
 * initial rate is that times sqrt(20 / steps), at most 1, or at most 1/10 where binary weights learn too
 * (_WITH_FLIPS). */
enum br_rate_kind { BR_RATE_GIVEN, BR_RATE_FITTED, BR_RATE_FITTED_WITH_FLIPS };
/* The learning rate of the step after `done` of `steps` (below 2^48), for br_run_args. `top_bottom` is `length` bytes
 * of text such as "1/100", of which each number has at most 192 bits. */
BR_API int br_rate(const char* top_bottom, size_t length, int kind, uint64_t done, uint64_t steps, int64_t* mantissa,
                   int64_t* shift);

#ifdef __cplusplus
}
#endif
#endif
