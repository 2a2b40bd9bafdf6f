/* The paper's strategy in C: a memory of 1-bit latents, a tail that learns from new and replayed ones, a CWR* head.
 * C99, no dependency, no heap, no floating point, no threads.
 *
 *     br_replay* learner;
 *     br_replay_options options = {.classes = 16, .samples = 64};
 *     br_replay_memory memory;
 *     br_replay_plan(model, model_size, &options, &memory, error, sizeof error);      on a machine with a heap, or by
 *     room = aligned_alloc(64, memory.total);                                         `bitreplay export`
 *     br_replay_open(model, model_size, &options, room, memory.total, &learner, error, sizeof error);
 *
 *     br_replay_begin(learner);                                an experience, as learner.learn in Python
 *     br_replay_add(learner, &picture, &name);                 for each of its pictures
 *     do br_replay_step(learner, &progress);                   one minibatch each: forward, backward, update
 *     while (progress.done < progress.steps);
 *     br_replay_end(learner);                                  consolidates the head, offers the pictures to the memory
 *     br_replay_predict(learner, &picture, &answer);
 *     br_replay_save(learner, &slots);
 *
 * `model` is what `bitreplay export --strategy replay` writes: frozen backbone, tail and settings. Everything equals
 * Python bit for bit: latents, minibatches, weights, answers, state files and the state's hash. A state that Python
 * saved is read here and learning goes on as it would there, and the other way round.
 *
 * What is refused:
 *   settings with augment, unknown above 0, bits float    BR_MALFORMED (`bitreplay export` writes no such model)
 *   states of other bits, level, code_bits, new, replayed, per_class                          BR_OTHER_SETTINGS
 *   states of version 1 (those of bitreplay 0.1; save them once with a later one)             BR_MALFORMED
 *   more classes than `classes`, pictures of an experience than `samples`, longer names       BR_FULL
 *   an experience more when a counter is at its end (2^31 - 1 experiences, 2^61 samples)       BR_FULL
 *   `share` of an answer above 0: to say "unknown" by stored latents is Python's               BR_BAD_ARGUMENT
 *   merging, unlearning single pictures                                                        there is no function
 *
 * One thread at a time may use a learner. A call that fails has changed nothing, unless it says otherwise. A learner
 * that comes to know more than 16 classes opens a larger tail in its memory: br_set_isa in between may leave no room
 * for it (BR_NO_MEMORY), and then every call is refused until clear, with the old instruction set, has begun anew.
 */
#ifndef BITREPLAY_REPLAY_H
#define BITREPLAY_REPLAY_H

#include "bitreplay_learner.h" /* pictures, names, answers, slots */

#ifdef __cplusplus
extern "C" {
#endif

typedef struct br_replay br_replay;

/* 0 takes the default. Each is a size that is taken from the caller's memory, and a limit then (BR_FULL). */
typedef struct br_replay_options {
  uint32_t classes;    /* at most as many as the model was exported for; 16 */
  uint32_t name_bytes; /* of each name in UTF-8, at most 800; 64 */
  uint32_t samples;    /* pictures of one experience; 64 */
  uint32_t texts;      /* bytes of the settings that a state file may bring; 2,048 */
} br_replay_options;

typedef struct br_replay_memory {
  size_t total;      /* what br_replay_open is given: the sum of the others */
  size_t network;    /* tables of backbone and tail, rearranged weights */
  size_t state;      /* learned parameters, head, stored latents, names */
  size_t experience; /* latents and labels of the pictures that are being learned */
  size_t work;       /* arenas of backbone and tail, reading and writing states */
} br_replay_memory;

/* How much memory a learner takes. Uses the heap meanwhile; builds without a heap lack it. */
BR_API int br_replay_plan(const void* model, size_t size, const br_replay_options* options, br_replay_memory* memory,
                          char* error, size_t error_size);
/* `model` (aligned to 64) stays unchanged and in place while the learner is used. `memory` is aligned to 64. The
 * learner lies in it, and is gone when the memory is. It knows nothing yet. */
BR_API int br_replay_open(const void* model, size_t size, const br_replay_options* options, void* memory,
                          size_t memory_size, br_replay** learner, char* error, size_t error_size);
/* What it really took. */
BR_API void br_replay_taken(const br_replay* learner, br_replay_memory* memory);
/* Forgets everything, an experience that has begun too; the next save leaves nothing of the past. */
BR_API void br_replay_clear(br_replay* learner);

/* The side of the square that pictures are fitted to, and words of a latent. */
BR_API uint32_t br_replay_side(const br_replay* learner);
BR_API uint32_t br_replay_latent_words(const br_replay* learner);
/* code[words]: all that learning and answering know of a picture. */
BR_API int br_replay_latent(br_replay* learner, const br_picture* picture, uint64_t* code);

/* One experience. Pictures are coded as they are added. The first step gives new names their numbers; none can be added
 * after it. `end` makes what steps are left: who does not want to know calls begin, add and end alone. An experience
 * without a picture counts as none. One that is given up is undone by reading a state, or by clear. */
typedef struct br_replay_progress {
  uint64_t done, steps;
} br_replay_progress;
BR_API int br_replay_begin(br_replay* learner);
BR_API int br_replay_add(br_replay* learner, const br_picture* picture, const br_name* name);
BR_API int br_replay_add_latent(br_replay* learner, const uint64_t* code, const br_name* name);
BR_API int br_replay_step(br_replay* learner, br_replay_progress* progress); /* progress, or null */
BR_API int br_replay_end(br_replay* learner);

/* Scores are logits, 16 bits behind the point. Not during an experience (BR_BAD_ORDER). */
BR_API int br_replay_predict(br_replay* learner, const br_picture* picture, br_answer* answer);
BR_API int br_replay_predict_latent(br_replay* learner, const uint64_t* code, br_answer* answer);

/* Stored latents and the head's weights of a class go; what the tail's other weights have learned stays. */
BR_API int br_replay_forget(br_replay* learner, const br_name* name);
/* One stored sample, by its number in the order of arrival; BR_NEVER_LEARNED if it is not stored. */
BR_API int br_replay_forget_sample(br_replay* learner, int64_t sample);
BR_API int br_replay_rename(br_replay* learner, const br_name* from, const br_name* to);

/* Classes in the order of their numbers; answers name them by their place here. `name` points into the learner, until
 * the next change. `pictures` were ever learned of it, `stored` latents are kept. */
BR_API uint32_t br_replay_classes(const br_replay* learner);
BR_API int br_replay_class(const br_replay* learner, uint32_t label, br_name* name, int64_t* pictures, int64_t* stored);
BR_API int64_t br_replay_pictures(const br_replay* learner);
BR_API int64_t br_replay_experiences(const br_replay* learner);
BR_API int64_t br_replay_steps(const br_replay* learner);

/* As br_state_hash and so on of bitreplay_learner.h. */
BR_API int br_replay_hash(br_replay* learner, char hash[65]);
BR_API size_t br_replay_bytes(br_replay* learner);
BR_API int br_replay_write(br_replay* learner, br_write* write, void* context);
/* Ends an experience that has begun. The whole file is checked before anything changes; if reading fails after that,
 * the learner knows nothing. */
BR_API int br_replay_read(br_replay* learner, br_read* read, void* context, size_t size);
/* What br_replay_read would say of these bytes; the learner stays as it is. */
BR_API int br_replay_verify(br_replay* learner, br_read* read, void* context, size_t size);

/* Two generations in two places, as br_learner_save and so on. */
BR_API int br_replay_save(br_replay* learner, const br_slots* slots);
BR_API int br_replay_load(br_replay* learner, const br_slots* slots);
BR_API int br_replay_rollback(br_replay* learner, const br_slots* slots);

#ifdef __cplusplus
}
#endif
#endif
