/* The learner in C: pictures in, answers out, one state on every machine. C99, no dependency, no heap.
 *
 *     br_learner* learner;
 *     br_learner_options options = {.classes = 16};
 *     br_learner_memory memory;
 *     br_learner_plan(model, model_size, &options, &memory, error, sizeof error);     on a machine with a heap, or by
 *     room = aligned_alloc(64, memory.total);                                         `bitreplay export`
 *     br_learner_open(model, model_size, &options, room, memory.total, &learner, error, sizeof error);
 *
 *     br_learn_begin(learner);                                 an experience, as learner.learn in Python
 *     br_learn_add(learner, &picture, &name);                  for each of its pictures
 *     br_learn_end(learner);
 *     br_predict(learner, &picture, &answer);
 *     br_learner_save(learner, &slots);
 *
 * `model` is what `bitreplay export` writes: the frozen network as a program, with the model's name and the settings.
 * The strategy is exact (docs/exact.md). Everything equals Python bit for bit: numbers of a picture, sums, answers,
 * state files and the state's hash. A state that Python saved is read here, and the other way round.
 *
 * One thread at a time may use a learner. A call that fails has changed nothing, unless it says otherwise.
 */
#ifndef BITREPLAY_LEARNER_H
#define BITREPLAY_LEARNER_H

#include "bitreplay.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct br_learner br_learner;

/* 0 takes the default. Each is a size that is taken from the caller's memory, and a limit then (BR_FULL). */
typedef struct br_learner_options {
  uint32_t classes;    /* at most 65,535; 16 */
  uint32_t name_bytes; /* of each name in UTF-8, at most 800 (200 characters of 4 bytes); 64 */
  uint32_t marks;      /* of the lineage, 8 bytes each: experiences and merged states; 1,024 */
  uint32_t wide;       /* 1: room for more than 131,072 pictures, twice the memory for sums; 0 */
  uint32_t texts;      /* bytes of the settings that a state file may bring; 2,048 */
  uint32_t factor;   /* 1: room for what `share` of an answer needs, 2 numbers (numbers + 1) bytes; 0: made each time */
  uint32_t pictures; /* with the setting `digests`: at most so many, 8 bytes each; 4,096 */
} br_learner_options;

typedef struct br_learner_memory {
  size_t total;   /* what br_learner_open is given: the sum of the others */
  size_t network; /* its tables, and weights rearranged for kernels that do not read them where they lie */
  size_t state;   /* counts, sums, names, lineage */
  size_t answers; /* the discriminant */
  size_t work;    /* shared by the network's arena, the discriminant's making, reading and writing states */
} br_learner_memory;

/* uint8 pixels of any size; the middle square is fitted to the network by docs/pictures.md's law. */
typedef struct br_picture {
  const uint8_t* pixels;
  uint32_t width, height; /* 1 to 16,384 */
  uint32_t pixel_bytes;   /* 3: RGB; 4: RGB and a byte that is not looked at */
  size_t row_bytes;       /* from a row to the next; 0: width * pixel_bytes */
} br_picture;

/* A class has a text or a whole number as its name. Text is UTF-8 in Unicode's form NFC (ASCII always is), 1 to 200
 * characters, not necessarily ended by 0; with `text` null the name is `number`, within 2^53. States of older versions
 * may hold halves of characters (U+D800 to U+DFFF) as if they were characters: such names are found, but not given. */
typedef struct br_name {
  const char* text;
  size_t length; /* in bytes */
  int64_t number;
} br_name;

#define BR_SHARE(part) ((uint32_t)(65536 * (part) + 0.5))

typedef struct br_answer {
  uint32_t label;         /* number of the class, 0 to br_learner_classes - 1: the first with the largest score */
  int64_t* scores;        /* [classes], or null */
  int32_t* probabilities; /* [classes], 30 bits behind the point, or null */
  uint32_t share;   /* given: of pictures of known classes, so many may be called unknown (docs/unknown.md), 16 bits
                            * behind the point: BR_SHARE(0.05). 0: none is, and nothing is computed for it */
  uint32_t unknown; /* 1: the picture is unlike those that were learned; `label` is the best class even so */
} br_answer;

/* How much memory a learner takes. Uses the heap meanwhile; builds without a heap lack it. */
BR_API int br_learner_plan(const void* model, size_t size, const br_learner_options* options, br_learner_memory* memory,
                           char* error, size_t error_size);
/* `model` (aligned to 64) stays unchanged and in place while the learner is used: weights are read where they lie.
 * `memory` is aligned to 64. The learner lies in it, and is gone when the memory is. It knows nothing yet. */
BR_API int br_learner_open(const void* model, size_t size, const br_learner_options* options, void* memory,
                           size_t memory_size, br_learner** learner, char* error, size_t error_size);
/* What it really took. */
BR_API void br_learner_taken(const br_learner* learner, br_learner_memory* memory);
/* Forgets everything; the next save leaves nothing of the past. */
BR_API void br_learner_clear(br_learner* learner);

/* Numbers of a picture, and the side of the square that it is fitted to. */
BR_API uint32_t br_learner_features(const br_learner* learner);
BR_API uint32_t br_learner_side(const br_learner* learner);
/* The picture as the network sees it: side * side * 3 bytes. */
BR_API int br_fit(const br_picture* picture, uint32_t side, uint8_t* fitted);
/* x[numbers], int8 in [-127, 127]: all that learning and answering know of a picture. */
BR_API int br_learner_extract(br_learner* learner, const br_picture* picture, int8_t* x);

/* One experience. Pictures are in the sums as soon as they are added; `end` counts the experience and writes its mark.
 * An experience that is given up is undone by loading the state before, or by unlearning its pictures. */
BR_API int br_learn_begin(br_learner* learner);
BR_API int br_learn_add(br_learner* learner, const br_picture* picture, const br_name* name);
BR_API int br_learn_add_features(br_learner* learner, const int8_t* x, const br_name* name);
BR_API int br_learn_end(br_learner* learner);

/* The discriminant is made when it is first needed after a change; br_learner_ready makes it now. */
BR_API int br_learner_ready(br_learner* learner);
BR_API int br_predict(br_learner* learner, const br_picture* picture, br_answer* answer);
BR_API int br_predict_features(br_learner* learner, const int8_t* x, br_answer* answer);
/* The setting `unknown` of the model or of the state that was read, as a share. */
BR_API uint32_t br_learner_share(const br_learner* learner);

/* As if the picture had never been learned as that class; BR_NEVER_LEARNED if it cannot have been. */
BR_API int br_unlearn(br_learner* learner, const br_picture* picture, const br_name* name);
BR_API int br_unlearn_features(br_learner* learner, const int8_t* x, const br_name* name);
BR_API int br_forget(br_learner* learner, const br_name* name);
BR_API int br_rename(br_learner* learner, const br_name* from, const br_name* to);

/* Classes stand in the order of their names: whole numbers, then texts. `name` points into the learner, until the next
 * change. */
BR_API uint32_t br_learner_classes(const br_learner* learner);
BR_API int br_learner_class(const br_learner* learner, uint32_t label, br_name* name, int64_t* pictures);
BR_API int64_t br_learner_pictures(const br_learner* learner);
BR_API int64_t br_learner_experiences(const br_learner* learner);

/* State files (docs/state-format.md), the bytes that Python writes. Functions of the caller return 0, or anything else
 * for a failure, which becomes BR_STORAGE. `read` may be asked for any place, several times. */
typedef int br_read(void* context, size_t offset, void* bytes, size_t size);
typedef int br_write(void* context, size_t offset, const void* bytes, size_t size);

/* The hash of docs/learner.md's state_hash: 64 digits and a 0. */
BR_API int br_state_hash(br_learner* learner, char hash[65]);
BR_API size_t br_state_bytes(br_learner* learner);
BR_API int br_state_write(br_learner* learner, br_write* write, void* context); /* from 0 on, without gaps */
/* The whole file is checked as a stranger's before anything changes (BR_IMPOSSIBLE: its sums are those of no pictures);
 * if reading fails after that, the learner knows nothing. */
BR_API int br_state_read(br_learner* learner, br_read* read, void* context, size_t size);
/* Whether what was written can be read again: everything that br_state_read checks but the factor of the sums, which
 * takes as long as a discriminant. The bytes are read one after another, and the learner stays as it is. */
BR_API int br_state_verify(br_learner* learner, br_read* read, void* context, size_t size);
/* Adds what another state of the same model and settings has learned. */
BR_API int br_state_merge(br_learner* learner, br_read* read, void* context, size_t size);
/* The same where both began as one state, the base: what it saw counts once. BR_OTHER_BASE if one does not contain
 * it. */
BR_API int br_state_merge_since(br_learner* learner, br_read* read, void* context, size_t size, br_read* base_read,
                                void* base_context, size_t base_size);
/* As if a state that was merged before, now or long ago, never had been: BR_OTHER_BASE if it cannot have been,
 * BR_NEVER_LEARNED if what is left could not be sums of pictures. */
BR_API int br_state_take_out(br_learner* learner, br_read* read, void* context, size_t size);
BR_API int br_state_take_out_since(br_learner* learner, br_read* read, void* context, size_t size, br_read* base_read,
                                   void* base_context, size_t base_size);

/* Two places of non-volatile memory, numbered 0 and 1, each with room for a state and BR_SLOT_HEADER bytes. `erase`
 * makes a place ready to be written, `write` is asked for rising offsets except for the header, which comes last, after
 * a `sync`; `sync` returns when what was written will survive a loss of power. `size` is that of a place. */
#define BR_SLOT_HEADER 64
typedef struct br_slots {
  void* context;
  size_t size;
  int (*read)(void* context, uint32_t slot, size_t offset, void* bytes, size_t size);
  int (*erase)(void* context, uint32_t slot, size_t size);
  int (*write)(void* context, uint32_t slot, size_t offset, const void* bytes, size_t size);
  int (*sync)(void* context, uint32_t slot);
} br_slots;

/* Writes a new generation over the older of the two, and reads it again before it counts. Whenever power fails,
 * br_learner_load finds the state before or the new one. After forget and unlearn both places are written anew, so that
 * nothing of the past stays. */
BR_API int br_learner_save(br_learner* learner, const br_slots* slots);
/* The last whole generation; BR_NO_STATE if there is none. */
BR_API int br_learner_load(br_learner* learner, const br_slots* slots);
/* The generation before the last one, which is gone then. */
BR_API int br_learner_rollback(br_learner* learner, const br_slots* slots);

#ifdef __cplusplus
}
#endif
#endif
