/* The paper's strategy in C: a replay memory of binary latents, a tail that learns from new and replayed ones, a CWR*
 * head. C99, no dependencies, no heap, no floating point, no threads.
 *
 *     br_replay* learner;
 *     br_replay_options options = {.classes = 16, .samples = 64};
 *     br_replay_memory memory;
 *     br_replay_plan(model, model_size, &options, &memory, error, sizeof error);      on a machine with a heap, or
 *     room = aligned_alloc(64, memory.total);                                         sizes.h of `bitreplay export`
 *     br_replay_open(model, model_size, &options, room, memory.total, &learner, error, sizeof error);
 *
 *     br_replay_begin(learner);                                an experience, as learner.learn in Python
 *     br_replay_add(learner, &picture, &name);                 for each of its images
 *     do br_replay_step(learner, &progress);                   one minibatch each: forward, backward, update
 *     while (progress.done < progress.steps);
 *     br_replay_end(learner);                                  consolidates the head, updates the replay memory
 *     br_replay_predict(learner, &picture, &answer);
 *     br_replay_save(learner, &slots);
 *
 * `model` is a file that `bitreplay export --strategy replay` wrote: frozen backbone, tail and settings. Latents,
 * minibatches, weights, answers, state files and the state hash equal Python's bit for bit. C reads the states that
 * Python saved and goes on learning as Python would, and the other way round.
 *
 * Not supported:
 *   models with augmentation, the setting `unknown` above 0, or bits "float"                   BR_MALFORMED
 *   states with another bits, replay_layer, latent_bits, batch_size, replay_batch_size
 *   or memory_per_class                                                                        BR_OTHER_SETTINGS
 *   more than `classes` classes, `samples` images per experience, or `name_bytes` per name     BR_FULL
 *   experiences beyond the counters (2^31 - 1 experiences, 2^61 samples)                       BR_FULL
 *   `share` of br_answer above 0                                                               BR_BAD_ARGUMENT
 *   merging states, unlearning single images                                                   no function
 *
 * Functions that return int return BR_OK (0) or another value of `enum br_error` (bitreplay.h). A call that fails has
 * changed nothing, unless its description says otherwise. BR_BAD_ARGUMENT means a null pointer or a value out of range
 * and is not mentioned below. One thread at a time may use a learner.
 *
 * A learner with more than 16 classes opens a larger tail in its memory. If br_set_isa was called since it was opened,
 * there may be no room for that tail (BR_NO_MEMORY). Every call is then refused until br_replay_clear, with the former
 * instruction set, starts anew.
 */
#ifndef BITREPLAY_REPLAY_H
#define BITREPLAY_REPLAY_H

#include "bitreplay_learner.h" /* br_picture, br_name, br_answer, br_slots */

#ifdef __cplusplus
extern "C" {
#endif

typedef struct br_replay br_replay;

/* Limits, for which memory is reserved; beyond them a call returns BR_FULL. 0 takes the default. */
typedef struct br_replay_options {
  uint32_t classes;        /* up to the number that the model was exported for; default 16 */
  uint32_t name_bytes;     /* of each name in UTF-8, up to 800; default 64 */
  uint32_t samples;        /* images in one experience; default 64 */
  uint32_t settings_bytes; /* of the settings in a state file; default 2,048 */
} br_replay_options;

/* The memory of a learner, in bytes. */
typedef struct br_replay_memory {
  size_t total;      /* what br_replay_open takes: the sum of the others */
  size_t network;    /* tables and packed weights of backbone and tail */
  size_t state;      /* learned parameters, head, replay memory, names */
  size_t experience; /* latents and labels of the images being learned */
  size_t work;       /* arenas of backbone and tail, reading and writing states */
} br_replay_memory;

/* ---- Opening ---- */

/* Computes the memory that a learner takes. `options` may be null for the defaults. On failure `error`, if `error_size`
 * > 0, holds one sentence. Uses the heap meanwhile; builds without a heap lack this function. */
BR_API int br_replay_plan(const void* model, size_t size, const br_replay_options* options, br_replay_memory* memory,
                          char* error, size_t error_size);
/* Opens a learner that has learned nothing yet. `model` and `memory` must be aligned to 64; the caller owns both, and
 * both must stay in place while the learner is used. There is no function to close it. On failure `*learner` is null
 * and `error`, if `error_size` > 0, holds one sentence. */
BR_API int br_replay_open(const void* model, size_t size, const br_replay_options* options, void* memory,
                          size_t memory_size, br_replay** learner, char* error, size_t error_size);
/* Writes the memory that the learner uses to `*memory`. */
BR_API void br_replay_memory_used(const br_replay* learner, br_replay_memory* memory);
/* Forgets everything, and drops an experience that has begun. The next save leaves nothing of the past. */
BR_API void br_replay_clear(br_replay* learner);

/* ---- Latents ---- */

/* The side of the network's input, a square. */
BR_API uint32_t br_replay_side(const br_replay* learner);
/* The number of words of a latent. */
BR_API uint32_t br_replay_latent_words(const br_replay* learner);
/* Writes the latent of an image to code[words]. Learning and answering use nothing else of it. */
BR_API int br_replay_latent(br_replay* learner, const br_picture* picture, uint64_t* code);

/* ---- Learning ---- */

typedef struct br_replay_progress {
  uint64_t done, steps; /* training steps done, and in all */
} br_replay_progress;

/* Begins an experience. BR_BAD_ORDER if one has begun already, BR_FULL if no more can be counted. To undo an
 * experience, read an earlier state, or clear the learner. */
BR_API int br_replay_begin(br_replay* learner);
/* Adds an image, which is encoded at once, or a latent, to the experience. BR_FULL beyond the options' limits,
 * BR_BAD_ORDER outside of an experience or after its first step. */
BR_API int br_replay_add(br_replay* learner, const br_picture* picture, const br_name* name);
BR_API int br_replay_add_latent(br_replay* learner, const uint64_t* code, const br_name* name);
/* Trains one minibatch. The first step numbers the new classes. `progress` may be null. */
BR_API int br_replay_step(br_replay* learner, br_replay_progress* progress);
/* Trains the steps that are left, consolidates the head and offers the latents to the replay memory. Calling
 * br_replay_step is thus optional. An experience without images is not counted. */
BR_API int br_replay_end(br_replay* learner);

/* ---- Answers ---- */

/* Answers for an image, or for a latent. Scores are logits, scaled by 2^16. BR_NOTHING_LEARNED without a class,
 * BR_BAD_ORDER during an experience. */
BR_API int br_replay_predict(br_replay* learner, const br_picture* picture, br_answer* answer);
BR_API int br_replay_predict_latent(br_replay* learner, const uint64_t* code, br_answer* answer);

/* ---- Forgetting: not during an experience (BR_BAD_ORDER) ---- */

/* Removes the stored latents and the head's weights of a class. What the tail has learned from it stays.
 * BR_UNKNOWN_CLASS if there is none of that name. */
BR_API int br_replay_forget(br_replay* learner, const br_name* name);
/* Removes one stored latent, by the number of its sample in the order of arrival. BR_NEVER_LEARNED if it is not
 * stored. */
BR_API int br_replay_forget_sample(br_replay* learner, int64_t sample);
/* Renames a class. BR_UNKNOWN_CLASS if there is no `from`, BR_NAME_TAKEN if there is a `to`. */
BR_API int br_replay_rename(br_replay* learner, const br_name* from, const br_name* to);

/* ---- Classes ---- */

/* The number of classes. */
BR_API uint32_t br_replay_classes(const br_replay* learner);
/* The name of class number `label`, the number of its images ever learned, and of its stored latents; each pointer may
 * be null. Classes are in the order in which they were numbered. `name->text` points into the learner and is valid
 * until the next change. */
BR_API int br_replay_class(const br_replay* learner, uint32_t label, br_name* name, int64_t* pictures, int64_t* stored);
/* The number of images, experiences and training steps ever learned. */
BR_API int64_t br_replay_pictures(const br_replay* learner);
BR_API int64_t br_replay_experiences(const br_replay* learner);
BR_API int64_t br_replay_steps(const br_replay* learner);

/* ---- States: as br_state_hash, br_state_bytes and br_state_write in bitreplay_learner.h ---- */

BR_API int br_replay_hash(br_replay* learner, char hash[65]);
BR_API size_t br_replay_bytes(br_replay* learner);
BR_API int br_replay_write(br_replay* learner, br_write* write, void* context);
/* Replaces what was learned by the state in a file of `size` bytes. Ends an experience. The whole file is checked
 * before anything changes; if reading fails after that (BR_STORAGE), the learner is empty. */
BR_API int br_replay_read(br_replay* learner, br_read* read, void* context, size_t size);
/* Checks a state file as br_replay_read does, without changing the learner. */
BR_API int br_replay_verify(br_replay* learner, br_read* read, void* context, size_t size);

/* ---- Saving in non-volatile memory: as br_learner_save, br_learner_load and br_learner_rollback ---- */

BR_API int br_replay_save(br_replay* learner, const br_slots* slots);
BR_API int br_replay_load(br_replay* learner, const br_slots* slots);
BR_API int br_replay_rollback(br_replay* learner, const br_slots* slots);

#ifdef __cplusplus
}
#endif
#endif
