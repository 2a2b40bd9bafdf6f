/* The method around the tail's steps in whole numbers: docs/law.md section 10. Reservoir, draws, the order of
 * minibatches, CWR*, learning rates. The replay learner (bitreplay_replay.h) is made of these; they stand alone for
 * those who have a loop of their own. All memory is the caller's; nothing is kept between calls. */
#ifndef BITREPLAY_METHOD_H
#define BITREPLAY_METHOD_H
#include "bitreplay.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the next sample of a class goes: `seen` were offered before, `held` of `slots` places are taken. -1:
 * nowhere. */
BR_API int64_t br_reservoir_place(uint64_t seed, uint32_t label, uint64_t seen, uint32_t held, uint32_t slots);

/* `count` of `stored` samples (1 to 2^31 - 1) by the draw of that number: all different where there are so many, else
 * with replacement. `exchanged` has room for 2 count; the time grows with the square of count. */
BR_API int br_draw(uint64_t seed, uint64_t draw, uint32_t stored, uint32_t count, uint32_t* exchanged,
                   uint32_t* picked);

/* The new samples of an epoch in their order: the lower 32 bits of keys[0], keys[1] and so on. */
BR_API int br_epoch_order(uint64_t seed, uint64_t experience, uint64_t epoch, uint32_t samples, uint64_t* keys);

/* CWR*: cw and past after an experience that trained tw. Weights are [classes][columns], the bias last; `present` has
 * the distinct samples of each class, of which one at least is there. */
BR_API int br_consolidate(int32_t* cw, const int32_t* tw, int64_t* past, const int64_t* present, uint32_t classes,
                          uint32_t columns);

/* The rate of the step after `done` of all `steps`, as br_run_args takes it. BR_RATE_GIVEN begins with `top_bottom`,
 * text such as "1/100". The others begin with that (gain / power) times sqrt(20 / steps), at most 1, or 1/10 where
 * binary weights learn too. Neither number of the fraction has more than 192 bits; steps < 2^48. */
enum br_rate_kind { BR_RATE_GIVEN, BR_RATE_FITTED, BR_RATE_FITTED_WITH_FLIPS };
BR_API int br_rate(const char* top_bottom, size_t length, int kind, uint64_t done, uint64_t steps, int64_t* mantissa,
                   int64_t* shift);

#ifdef __cplusplus
}
#endif
#endif
