/* The native core: runs a program (docs/law.md) in whole numbers. C, no dependency.
 *
 *     br_program* program;
 *     char error[256];
 *     if (br_program_open(bytes, size, &program, error, sizeof error) != BR_OK) ...
 *     parameters = aligned_alloc(64, br_program_parameter_bytes(program));
 *     arena = aligned_alloc(64, br_program_arena_bytes(program));      zeroed
 *     memcpy(parameters, br_program_initial_parameters(program), br_program_parameter_bytes(program));
 *     br_run(program, BR_PREPARE, parameters, arena, &args);           once, and after the caller changed parameters
 *     br_run(program, BR_STEP, parameters, arena, &args);              forward, backward, update, prepare
 *
 * br_program_open reads everything that a file says before it believes it: whatever the bytes, br_run stays inside the
 * regions. It allocates; br_run never does.
 *
 * An open program does not change, so any number of threads may call br_run on it at the same time, each with an arena
 * of its own. BR_PREPARE and BR_FORWARD write the arena alone: while nobody runs another list in a parameter region,
 * many may run these two in it. What learns has a region of its own; what it has learned is copied out between two
 * runs.
 *
 * A null pointer is refused (BR_BAD_ARGUMENT, 0, or null) wherever something must be there. What cannot be noticed is
 * the caller's: a program that was closed already, or is closed while it runs, and regions smaller than the program
 * asks for. The arena is as large as the program's tensors ask for, up to 2^40 bytes, however small the file (one that
 * asks for more than twice what they take, and a page, is refused): before allocating for a file from elsewhere,
 * compare br_program_plan with what there is.
 */
#ifndef BITREPLAY_H
#define BITREPLAY_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define BR_API __attribute__((visibility("default")))
#else
#define BR_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct br_program br_program;

/* From BR_FULL on: of the learner (bitreplay_learner.h). */
enum br_error {
  BR_OK,
  BR_MALFORMED,
  BR_NO_MEMORY,
  BR_BAD_ARGUMENT,
  BR_MISALIGNED,
  BR_BAD_LABEL,
  BR_UNKNOWN_ISA,
  BR_FULL,
  BR_UNKNOWN_CLASS,
  BR_TAKEN_NAME,
  BR_NEVER_LEARNED,
  BR_NOTHING_LEARNED,
  BR_BAD_ORDER,
  BR_DAMAGED,
  BR_OTHER_MODEL,
  BR_OTHER_SETTINGS,
  BR_NO_STATE,
  BR_STORAGE,
  BR_OTHER_BASE,
  BR_IMPOSSIBLE
};
enum br_list { BR_PREPARE, BR_FORWARD, BR_BACKWARD, BR_UPDATE, BR_STEP };
enum br_region { BR_CONSTANT, BR_PARAMETER, BR_ARENA };
enum br_dtype { BR_INT8, BR_INT16, BR_INT32, BR_INT64, BR_UINT8, BR_UINT32, BR_UINT64 };

typedef struct br_run_args {
  uint64_t seed;
  uint64_t step;
  int64_t samples;       /* 1 to br_program_max_samples */
  int64_t rate_mantissa; /* the learning rate is rate_mantissa / 2^rate_shift; |rate_mantissa| < 2^31 */
  int64_t rate_shift;
} br_run_args;

typedef struct br_tensor_info {
  uint64_t offset; /* in its region */
  uint32_t region;
  uint32_t dtype;
  uint32_t per_sample; /* `shape` is of one sample; samples follow one another */
  uint32_t dimensions;
  uint32_t shape[4];
} br_tensor_info;

/* All that running a program takes, in bytes: the sum of these. */
typedef struct br_memory {
  uint64_t image;          /* the program's bytes, which the caller keeps (or maps) */
  uint64_t tables;         /* owned by the program */
  uint64_t packed_weights; /* owned by the program: operands made of constant weights */
  uint64_t parameters;     /* the caller's, as br_program_parameter_bytes */
  uint64_t arena;          /* the caller's: tensors, laid out by lifetime, as the program asks for */
  uint64_t scratch;        /* the caller's, behind them in the same region: what operations work in, one at a time */
} br_memory;

typedef struct br_operation_info {
  const char* name;
  const char* reads;
  const char* writes;
  const char* attributes;
  uint32_t code;
} br_operation_info;

/* `bytes` must be aligned to 8 and stay unchanged until br_program_close: constants are read where they lie (so a file
 * may be mapped). On failure `*program` is null and `error` (if `error_size` > 0) holds one sentence. */
BR_API int br_program_open(const void* bytes, size_t size, br_program** program, char* error, size_t error_size);
/* The same without the heap: tables and rearranged weights lie in `memory`, which is aligned to 64 and holds `tables`
 * and `packed_weights` of br_memory, and 64 bytes. It is the caller's again when the program is no longer used;
 * br_program_close is not called. */
BR_API int br_program_open_in(const void* bytes, size_t size, void* memory, size_t memory_size, br_program** program,
                              char* error, size_t error_size);
/* Once, after all runs have returned; null does nothing. Threads in br_worker_run are sent home first. */
BR_API void br_program_close(br_program* program);

/* Threads are the caller's and optional: br_run shares its work with those that wait in br_worker_run, and ends in the
 * same bits whether they are many or none. `threads` (1 to 64, with the one that calls br_run) sets how much scratch
 * there is for work that needs it; br_program_open has 1. br_worker_run returns when the program is closed; no thread
 * may call it after that, so wait until br_program_helpers has counted those that you started. Where runs of one
 * program overlap, one of them has the helpers. A forked child has none and works alone. */
BR_API int br_program_open_threads(const void* bytes, size_t size, uint32_t threads, br_program** program, char* error,
                                   size_t error_size);
BR_API int br_worker_run(br_program* program);
BR_API uint32_t br_program_helpers(const br_program* program);

BR_API uint32_t br_program_max_samples(const br_program* program);
BR_API uint64_t br_program_parameter_bytes(const br_program* program);
BR_API uint64_t br_program_constant_bytes(const br_program* program);
/* `arena` and `scratch` of br_memory. */
BR_API uint64_t br_program_arena_bytes(const br_program* program);
/* Operands derived from constant weights when the program was opened; owned by the program. */
BR_API uint64_t br_program_packed_weights_bytes(const br_program* program);
BR_API void br_program_memory(const br_program* program, br_memory* memory);
/* The same figures before a program is opened; takes no more than its tables meanwhile. */
BR_API int br_program_plan(const void* bytes, size_t size, uint32_t threads, br_memory* memory, char* error,
                           size_t error_size);
BR_API const void* br_program_initial_parameters(const br_program* program);
BR_API const void* br_program_constants(const br_program* program);
BR_API int br_program_tensor(const br_program* program, const char* name, br_tensor_info* info);
/* The instruction set that the program was opened for. */
BR_API const char* br_program_isa(const br_program* program);

/* `parameters` and `arena` must be aligned to 64; a region of no bytes may be null. */
BR_API int br_run(const br_program* program, int list, void* parameters, void* arena, const br_run_args* args);

/* A step whose minibatch comes in parts of at most max_samples: it ends in the same bits as BR_STEP over the whole one,
 * in the arena of a part. Every part is written into the arena and passes twice:
 *     br_parts_begin                   once
 *     br_parts_measure                 each part: forward, backward, and the exponents that its sums need
 *     br_parts_gather                  each part: forward, backward, its share of the sums over `minibatch` samples
 *     br_parts_end                     once: update, prepare; args->samples is `minibatch`
 * Between them nothing else runs in this arena. br_parts_bytes is the size of `work`, aligned to 64, whose content
 * nobody needs; 0 for a program that was not compiled for it, or whose weights learn within the backward pass. */
BR_API uint64_t br_parts_bytes(const br_program* program);
BR_API int br_parts_begin(const br_program* program, void* arena);
BR_API int br_parts_measure(const br_program* program, void* parameters, void* arena, const br_run_args* args,
                            void* work);
BR_API int br_parts_gather(const br_program* program, void* parameters, void* arena, const br_run_args* args,
                           uint32_t minibatch, void* work);
BR_API int br_parts_end(const br_program* program, void* parameters, void* arena, const br_run_args* args);

/* Instruction sets. Programs opened later use the chosen one; the first choice is the environment variable
 * BITREPLAY_ISA, or else the fastest that the CPU has. */
BR_API const char* br_isas(void); /* those built, separated by spaces, slowest first */
BR_API int br_isa_supported(const char* name);
BR_API const char* br_isa(void); /* null if BITREPLAY_ISA names none that can be used */
BR_API int br_set_isa(const char* name);

/* Learning by sums (docs/law.md section 13): a discriminant from exact sums over pictures of `features` whole numbers
 * in [-127, 127]. All memory is the caller's; `work` is aligned to 64, holds what br_sums_..._bytes says, and keeps
 * nothing between calls. None of these functions allocates. A call that fails with anything but BR_OK has changed
 * nothing. */
typedef struct br_sums {
  uint32_t features; /* d: 1 to 8192 */
  uint32_t classes;  /* 1 or more */
  uint32_t bits;     /* of class_sums and products, 32 or 64; the law has br_sums_bits of the extent */
  int64_t* counts;   /* [classes] */
  void* class_sums;  /* [classes][numbers] */
  void* products;    /* [numbers (numbers + 1) / 2], the lower triangle by rows */
} br_sums;

/* Consecutive numbers of a picture that are shrunk alike, by lambda = top / bottom: in [1/1024, 8], top bottom <
 * 2^62. */
typedef struct br_sums_part {
  int64_t length;
  int64_t top;
  int64_t bottom;
} br_sums_part;

typedef struct br_solution {
  int32_t* weights; /* [classes][numbers], the caller's */
  int64_t* biases;  /* [classes], the caller's; -2^62 for a class without pictures */
  uint32_t features;
  uint32_t classes;
  int64_t pictures; /* the real score is the integer one times pictures 2^exponent */
  int32_t exponent;
  uint32_t dropped_features; /* numbers whose weights are 0 since others determine them */
} br_solution;

BR_API uint32_t br_sums_bits(int64_t pictures); /* 32 up to 131,072 pictures, then 64 */
/* The pictures that there are, or, where a class was forgotten that left its scatter, as many as the products need at
 * least; -1 for what are no sums. */
BR_API int64_t br_sums_extent(const br_sums* sums);
/* BR_IMPOSSIBLE unless these can be the sums of pictures; `forgot` is 1 if a class may have left its scatter. `work`
 * holds 8 bytes a number. */
BR_API int br_sums_possible(const br_sums* sums, int forgot, void* work);
/* The same of the scatter within classes as a whole, of sums that are possible: it has a factor. `work` holds
 * br_sums_solve_bytes. */
BR_API int br_sums_has_factor(const br_sums* sums, void* work);
BR_API uint64_t br_sums_add_bytes(uint32_t features);
/* Adds pictures (sign 1) or takes them away (sign -1). With 32 bits the sums hold 131,072 pictures at most. */
BR_API int br_sums_add(br_sums* sums, const int8_t* x, const int32_t* labels, uint64_t pictures, int sign, void* work);
/* Adds or takes away the sums of other pictures; their width may differ, so it also widens and narrows (from zeros). */
BR_API int br_sums_combine(br_sums* sums, const br_sums* other, int sign);
/* The law's lambda for a part: min(1, d / 4n), at least 1/1024. */
BR_API void br_sums_shrinkage(int64_t pictures, int64_t features, int64_t* top, int64_t* bottom);
BR_API uint64_t br_sums_solve_bytes(uint32_t features, uint32_t classes);
BR_API int br_sums_solve(const br_sums* sums, const br_sums_part* parts, uint32_t part_count, void* work,
                         br_solution* solution);
/* scores[pictures][classes]; the answer is the first class with the largest. */
BR_API int br_sums_scores(const br_solution* solution, const int8_t* x, uint64_t pictures, int64_t* scores);

BR_API const char* br_error_text(int error);
BR_API const char* br_version(void);
/* Raised when a function or a structure changes so that programs must be compiled anew: the library's, to compare with
 * the header's. */
#define BR_ABI 2
BR_API int br_abi(void);
/* The operations that this library knows, to compare with the reference's table. Returns 0 beyond the last. */
BR_API int br_operation(size_t index, br_operation_info* info);

#ifdef __cplusplus
}
#endif
#endif
