/* The learner in C: images in, answers out, the same state on every machine. C99, no dependencies, no heap.
 *
 *     br_learner* learner;
 *     br_learner_options options = {.classes = 16};
 *     br_learner_memory memory;
 *     br_learner_plan(model, model_size, &options, &memory, error, sizeof error);     on a machine with a heap, or
 *     room = aligned_alloc(64, memory.total);                                         sizes.h of `bitreplay export`
 *     br_learner_open(model, model_size, &options, room, memory.total, &learner, error, sizeof error);
 *
 *     br_learner_begin(learner);                               an experience, as learner.learn in Python
 *     br_learner_add(learner, &picture, &name);                for each of its images
 *     br_learner_end(learner);
 *     br_learner_predict(learner, &picture, &answer);
 *     br_learner_save(learner, &slots);
 *
 * `model` is a file that `bitreplay export` wrote: the frozen network, the model's name and the settings, among them
 * the strategy, which is the learner's:
 *
 *     exact    class statistics over all images, from which a discriminant follows (docs/exact.md)
 *     replay   a tail that learns from new and stored latents, with a CWR* head (docs/strategy.md). Models with
 *              augmentation, `unknown` above 0 or bits "float" are refused (BR_MALFORMED)
 *
 * Encoded images, states, answers and the state hash equal Python's bit for bit. C reads the states that Python saved
 * and goes on learning as Python would, and the other way round.
 *
 * Functions that return int return BR_OK (0) or another value of `enum br_error` (bitreplay.h), for which br_error_text
 * has a sentence. A call that fails has changed nothing, unless its description says otherwise. BR_BAD_ARGUMENT means a
 * null pointer or a value out of range, BR_UNSUPPORTED that the learner's strategy has no such function; both are not
 * mentioned below. One thread at a time may use a learner; different learners share nothing.
 *
 * The learner keeps no pointer that it is given, except for `model` and `memory` of br_learner_open.
 */
#ifndef BITREPLAY_LEARNER_H
#define BITREPLAY_LEARNER_H

#include "bitreplay.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct br_learner br_learner;

/* Limits, for which memory is reserved; beyond them a call returns BR_FULL. 0 takes the default. */
typedef struct br_learner_options {
  uint32_t classes;        /* up to 65,535; replay: up to the number that the model was exported for; default 16 */
  uint32_t name_bytes;     /* of each name in UTF-8, up to 800 (200 characters of 4 bytes); default 64 */
  uint32_t marks;          /* exact: of the lineage, one per experience and merged state, 8 bytes each; default 1,024 */
  uint32_t wide;           /* exact: 1 for more than 131,072 images, with twice the memory for statistics; default 0 */
  uint32_t settings_bytes; /* of the settings in a state file; default 2,048 */
  uint32_t factor;         /* exact: 1: keep the factor that `share` of an answer needs, in 2 d (d + 1) bytes for d
                            * features; 0, the default: recompute it for every such answer */
  uint32_t pictures;       /* exact, with the setting `digests`: images, 8 bytes each; default 4,096 */
  uint32_t samples;        /* replay: images in one experience; default 64 */
} br_learner_options;

/* The memory of a learner, in bytes. */
typedef struct br_learner_memory {
  size_t total;      /* what br_learner_open takes: the sum of the others */
  size_t network;    /* tables and packed weights */
  size_t state;      /* exact: class statistics, names, lineage; replay: parameters, head, replay memory, names */
  size_t answers;    /* exact: the discriminant */
  size_t experience; /* replay: latents and labels of the images being learned */
  size_t work;       /* shared by the network's arena, computing the discriminant, reading and writing states */
} br_learner_memory;

/* An image of uint8 pixels, of any size. Its middle square is resized to the network's input (docs/pictures.md). */
typedef struct br_picture {
  const uint8_t* pixels;
  uint32_t width, height; /* 1 to 16,384 */
  uint32_t pixel_bytes;   /* 3: RGB; 4: RGB and a byte that is ignored */
  size_t row_bytes;       /* from one row to the next; 0: width * pixel_bytes */
} br_picture;

/* The name of a class: `length` bytes of `text` (no terminating 0 needed), or, if `text` is null, `number` (within
 * +-2^53). Text is 1 to 200 characters of UTF-8 in Unicode's form NFC (ASCII always is). States of older versions may
 * contain single surrogates (U+D800 to U+DFFF) in names: such classes can be looked up, but no new ones can be made. */
typedef struct br_name {
  const char* text;
  size_t length;
  int64_t number;
} br_name;

/* A share for br_answer: BR_SHARE(0.05) is 5 %. */
#define BR_SHARE(part) ((uint32_t)(65536 * (part) + 0.5))

/* What br_learner_predict answers. The caller sets `scores`, `probabilities` and `share`; the other fields are
 * results. */
typedef struct br_answer {
  uint32_t label;         /* number of the first class with the largest score: see br_learner_class */
  int64_t* scores;        /* [classes], or null if not wanted; of replay they are logits, scaled by 2^16 */
  int32_t* probabilities; /* [classes], scaled by 2^30, or null if not wanted */
  uint32_t share;         /* the share of images of known classes that may be called unknown (docs/unknown.md), scaled
                           * by 2^16: BR_SHARE(0.05). 0: no image is called unknown, and nothing is computed for it.
                           * BR_BAD_ARGUMENT above 0 with replay */
  uint32_t unknown;       /* 1: the image is unlike those that were learned; `label` is the best class even so */
} br_answer;

/* Training steps of an experience, done and in all. */
typedef struct br_progress {
  uint64_t done, steps;
} br_progress;

/* ---- Opening ---- */

/* Computes the memory that a learner takes. `options` may be null for the defaults. On failure `error`, if `error_size`
 * > 0, holds one sentence. Uses the heap meanwhile; builds without a heap lack this function. */
BR_API int br_learner_plan(const void* model, size_t size, const br_learner_options* options, br_learner_memory* memory,
                           char* error, size_t error_size);
/* Opens a learner that has learned nothing yet. `model` and `memory` must be aligned to 64; the caller owns both, and
 * both must stay in place while the learner is used: weights are read from `model`, and the learner lives in `memory`.
 * There is no function to close it. On failure `*learner` is null and `error`, if `error_size` > 0, holds one
 * sentence. */
BR_API int br_learner_open(const void* model, size_t size, const br_learner_options* options, void* memory,
                           size_t memory_size, br_learner** learner, char* error, size_t error_size);
/* Writes the memory that the learner uses to `*memory`. */
BR_API void br_learner_memory_used(const br_learner* learner, br_learner_memory* memory);
/* Forgets everything, and drops an experience that has begun. The next save leaves nothing of the past. */
BR_API void br_learner_clear(br_learner* learner);
/* "exact" or "replay". */
BR_API const char* br_learner_strategy(const br_learner* learner);

/* ---- Images ---- */

/* The side of the network's input, a square. */
BR_API uint32_t br_learner_side(const br_learner* learner);
/* Writes the middle square of an image, resized, to fitted[side][side][3]. */
BR_API int br_fit(const br_picture* picture, uint32_t side, uint8_t* fitted);
/* The bytes of an encoded image: features are int8 in [-127, 127] (exact), latents are uint64 words (replay). */
BR_API uint32_t br_learner_encoded_bytes(const br_learner* learner);
/* Encodes an image into memory of that size, aligned to 8. Learning and answering use nothing else of it. */
BR_API int br_learner_encode(br_learner* learner, const br_picture* picture, void* encoded);

/* ---- Learning ---- */

/* Begins an experience. BR_BAD_ORDER if one has begun already, BR_FULL if no more can be counted. */
BR_API int br_learner_begin(br_learner* learner);
/* Adds an image, or an encoded one, to the experience. A new name makes a new class. BR_FULL beyond the options'
 * limits, BR_BAD_ORDER outside of an experience or after its first step. With exact it is learned at once. */
BR_API int br_learner_add(br_learner* learner, const br_picture* picture, const br_name* name);
BR_API int br_learner_add_encoded(br_learner* learner, const void* encoded, const br_name* name);
/* Trains one minibatch; `progress` may be null. The first step numbers the new classes. Exact has no steps: `*progress`
 * is 0 of 0. */
BR_API int br_learner_step(br_learner* learner, br_progress* progress);
/* Ends the experience and counts it; one without images is not counted. Replay trains the steps that are left,
 * consolidates the head and offers the latents to the replay memory: calling br_learner_step is optional. To undo an
 * experience, read an earlier state. */
BR_API int br_learner_end(br_learner* learner);

/* ---- Answers: replay has none during an experience (BR_BAD_ORDER) ---- */

/* Computes the discriminant now. Otherwise the first answer after a change does. BR_NOTHING_LEARNED without a class. */
BR_API int br_learner_ready(br_learner* learner);
/* Answers for an image, or for an encoded one. BR_NOTHING_LEARNED without a class. */
BR_API int br_learner_predict(br_learner* learner, const br_picture* picture, br_answer* answer);
BR_API int br_learner_predict_encoded(br_learner* learner, const void* encoded, br_answer* answer);
/* The setting `unknown` of the model, or of the state that was read, for `share` of br_answer. */
BR_API uint32_t br_learner_share(const br_learner* learner);

/* ---- Unlearning: not during an experience (BR_BAD_ORDER) ---- */

/* exact: removes an image from a class, as if it had never been learned. BR_NEVER_LEARNED if it cannot have been
 * learned as that class, BR_UNKNOWN_CLASS if there is no such class. A class that has no images left is removed. */
BR_API int br_learner_unlearn(br_learner* learner, const br_picture* picture, const br_name* name);
BR_API int br_learner_unlearn_encoded(br_learner* learner, const void* encoded, const br_name* name);
/* Removes a class; of replay its stored latents and the head's weights, while what the tail has learned from it stays.
 * BR_UNKNOWN_CLASS if there is none of that name. */
BR_API int br_learner_forget(br_learner* learner, const br_name* name);
/* replay: removes one stored latent, by the number of its sample in the order of arrival. BR_NEVER_LEARNED if it is not
 * stored. */
BR_API int br_learner_forget_sample(br_learner* learner, int64_t sample);
/* Renames a class. BR_UNKNOWN_CLASS if there is no `from`, BR_NAME_TAKEN if there is a `to`. */
BR_API int br_learner_rename(br_learner* learner, const br_name* from, const br_name* to);

/* ---- Classes ---- */

/* The number of classes. */
BR_API uint32_t br_learner_classes(const br_learner* learner);
/* The name of class number `label`, the number of its images and of its stored latents (exact: 0); each pointer may be
 * null. Exact numbers classes in the order of their names, integers first, replay in the order in which they were
 * learned. `name->text` points into the learner and is valid until the next change. */
BR_API int br_learner_class(const br_learner* learner, uint32_t label, br_name* name, int64_t* pictures,
                            int64_t* stored);
/* The number of the class of this name, which answers have as their `label`. BR_UNKNOWN_CLASS if there is none. */
BR_API int br_learner_label(const br_learner* learner, const br_name* name, uint32_t* label);
/* The number of images, of all classes, of experiences and of training steps (exact: 0). */
BR_API int64_t br_learner_pictures(const br_learner* learner);
BR_API int64_t br_learner_experiences(const br_learner* learner);
BR_API int64_t br_learner_steps(const br_learner* learner);

/* ---- States: docs/state-format.md ---- */

/* Callbacks of the caller: read or write `size` bytes at `offset`. They return 0, or anything else on failure, which
 * becomes BR_STORAGE. `read` is called for any offset, several times; `write` from 0 on, without gaps. */
typedef int br_read(void* context, size_t offset, void* bytes, size_t size);
typedef int br_write(void* context, size_t offset, const void* bytes, size_t size);

/* Writes the state hash to `hash`: 64 hexadecimal digits and a 0. Equal to `state_hash` in Python. */
BR_API int br_learner_hash(br_learner* learner, char hash[65]);
/* The size of the state file. */
BR_API size_t br_learner_state_bytes(br_learner* learner);
/* Writes the state file. */
BR_API int br_learner_write(br_learner* learner, br_write* write, void* context);
/* Replaces what was learned by the state in a file of `size` bytes. During an experience exact returns BR_BAD_ORDER,
 * replay ends it. The whole file is checked before anything changes: BR_DAMAGED, BR_MALFORMED, BR_OTHER_MODEL,
 * BR_OTHER_SETTINGS, BR_FULL, or BR_IMPOSSIBLE if no images have its statistics. If reading fails after that
 * (BR_STORAGE), the learner is empty. */
BR_API int br_learner_read(br_learner* learner, br_read* read, void* context, size_t size);
/* Checks a state file as br_learner_read does, without changing the learner, reading it front to back. It leaves out
 * one check that takes as long as computing a discriminant: that the scatter is positive semidefinite. Meant for files
 * that this learner has just written. */
BR_API int br_learner_verify(br_learner* learner, br_read* read, void* context, size_t size);
/* exact: adds what another state, of the same model and settings, has learned. Errors as br_learner_read; BR_BAD_ORDER
 * during an experience. */
BR_API int br_learner_merge(br_learner* learner, br_read* read, void* context, size_t size);
/* The same for two states that both began as a third one, the base, whose images count once. BR_OTHER_BASE if one of
 * them does not contain the base. */
BR_API int br_learner_merge_since(br_learner* learner, br_read* read, void* context, size_t size, br_read* base_read,
                                  void* base_context, size_t base_size);
/* exact: removes a state that was merged before, as if it never had been. BR_OTHER_BASE if it cannot have been merged,
 * BR_NEVER_LEARNED if no images have the statistics that would be left. The second is for a state that was merged with
 * a base. */
BR_API int br_learner_take_out(br_learner* learner, br_read* read, void* context, size_t size);
BR_API int br_learner_take_out_since(br_learner* learner, br_read* read, void* context, size_t size, br_read* base_read,
                                     void* base_context, size_t base_size);

/* ---- Saving in non-volatile memory ---- */

#define BR_SLOT_HEADER 64
/* Two slots of non-volatile memory, numbered 0 and 1, of `size` bytes each: BR_SLOT_HEADER and a state file. Callbacks
 * return 0, or anything else on failure (BR_STORAGE). */
typedef struct br_slots {
  void* context;
  size_t size;
  int (*read)(void* context, uint32_t slot, size_t offset, void* bytes, size_t size);
  /* Makes the first `size` bytes of a slot writable. */
  int (*erase)(void* context, uint32_t slot, size_t size);
  /* Called with rising offsets, and last for the header, after a sync. */
  int (*write)(void* context, uint32_t slot, size_t offset, const void* bytes, size_t size);
  /* Returns when everything that was written will survive a loss of power. */
  int (*sync)(void* context, uint32_t slot);
} br_slots;

/* Saves the state in the slot with the older generation, and reads it back before it counts. Whenever power fails,
 * br_learner_load finds the previous or the new state. After unlearning and forgetting, both slots are rewritten, so
 * that nothing of the past is left. BR_FULL if a slot is too small, BR_BAD_ORDER during an experience. */
BR_API int br_learner_save(br_learner* learner, const br_slots* slots);
/* Loads the newest generation that is intact. BR_NO_STATE if there is none; other errors as br_learner_read. */
BR_API int br_learner_load(br_learner* learner, const br_slots* slots);
/* Loads the generation before the newest, and erases the newest. BR_NO_STATE if there are not two. */
BR_API int br_learner_rollback(br_learner* learner, const br_slots* slots);

#ifdef __cplusplus
}
#endif
#endif
