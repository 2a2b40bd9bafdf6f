/* The native core: runs compiled networks (programs, docs/law.md) in integer arithmetic. C99, no dependencies.
 *
 *     br_program* program;
 *     char error[256];
 *     if (br_program_open(bytes, size, &program, error, sizeof error) != BR_OK) ...
 *     parameters = aligned_alloc(64, br_program_parameter_bytes(program));
 *     arena = aligned_alloc(64, br_program_arena_bytes(program));      zeroed
 *     memcpy(parameters, br_program_initial_parameters(program), br_program_parameter_bytes(program));
 *     br_run(program, BR_PREPARE, parameters, arena, &args);           once, and after you change parameters
 *     br_run(program, BR_STEP, parameters, arena, &args);              forward, backward, update, prepare
 *
 * Functions that return int return BR_OK (0) or another value of `enum br_error`.
 *
 * Safety. br_program_open checks every field of a file before it uses it: whatever the bytes, br_run stays inside the
 * memory regions it was given. Null pointers are refused (with BR_BAD_ARGUMENT, 0 or null) wherever a value is
 * required. Not detected: a program that is already closed, a program that is closed while it runs, and regions smaller
 * than the program needs. A small file can describe tensors that need an arena of up to 2^40 bytes (a file that asks
 * for more than twice what its tensors take, plus a page, is refused). Before you allocate memory for a file you do not
 * trust, compare br_program_plan with what you have.
 *
 * Memory. br_program_open allocates; br_run never does.
 *
 * Threads. An open program never changes, so any number of threads may call br_run on it at once, each with its own
 * arena. BR_PREPARE and BR_FORWARD write only to the arena: many threads may run these two on one parameter region
 * while nobody runs another list on it. A thread that trains needs its own parameter region; copy the result out
 * between runs.
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

/* br_error_text has a sentence for each. */
enum br_error {
  BR_OK,
  BR_MALFORMED,    /* a program, model or state file is not valid */
  BR_NO_MEMORY,    /* an allocation failed, or the caller's memory is too small */
  BR_BAD_ARGUMENT, /* an argument is null or out of range */
  BR_MISALIGNED,   /* a pointer does not have the required alignment */
  BR_BAD_LABEL,    /* a label is not one of the program's classes */
  BR_UNKNOWN_ISA,  /* the instruction set does not exist or the CPU lacks it */
  /* Returned by the learners only (bitreplay_learner.h). */
  BR_FULL,            /* a limit of the learner's options, or of a counter, is reached */
  BR_UNKNOWN_CLASS,   /* no class has this name */
  BR_NAME_TAKEN,      /* another class has this name */
  BR_NEVER_LEARNED,   /* what should be removed was never learned */
  BR_NOTHING_LEARNED, /* no class has been learned yet */
  BR_BAD_ORDER,       /* not allowed before, or during, an experience */
  BR_DAMAGED,         /* a state file does not match its checksum */
  BR_OTHER_MODEL,     /* a state belongs to another model */
  BR_OTHER_SETTINGS,  /* a state was learned with other settings */
  BR_NO_STATE,        /* no slot holds a state */
  BR_STORAGE,         /* a callback of the caller failed */
  BR_OTHER_BASE,      /* a state does not contain the base */
  BR_IMPOSSIBLE,      /* no images have these class statistics */
  BR_UNSUPPORTED      /* the learner's strategy has no such function */
};
/* The lists of operations that a program has. BR_STEP runs forward, backward, update and prepare in turn. */
enum br_list { BR_PREPARE, BR_FORWARD, BR_BACKWARD, BR_UPDATE, BR_STEP };
enum br_region { BR_CONSTANT, BR_PARAMETER, BR_ARENA, BR_PASSING };
enum br_dtype { BR_INT8, BR_INT16, BR_INT32, BR_INT64, BR_UINT8, BR_UINT32, BR_UINT64 };

typedef struct br_run_args {
  uint64_t seed; /* seed and step select the random bits of stochastic rounding */
  uint64_t step;
  int64_t samples;       /* 1 to br_program_max_samples */
  int64_t rate_mantissa; /* the learning rate is rate_mantissa / 2^rate_shift; |rate_mantissa| < 2^31 */
  int64_t rate_shift;
} br_run_args;

typedef struct br_tensor_info {
  uint64_t offset;     /* bytes from the start of its region */
  uint32_t region;     /* enum br_region */
  uint32_t dtype;      /* enum br_dtype */
  uint32_t per_sample; /* 1: `shape` is that of one sample, and samples are contiguous */
  uint32_t dimensions;
  uint32_t shape[4];
} br_tensor_info;

/* All memory that running a program takes, in bytes. */
typedef struct br_memory {
  uint64_t image;          /* the program's bytes; the caller keeps them, or maps them */
  uint64_t tables;         /* owned by the program */
  uint64_t packed_weights; /* owned by the program: constant weights in the order in which kernels read them */
  uint64_t parameters;     /* the caller's: br_program_parameter_bytes */
  uint64_t arena;          /* the caller's: tensors, placed by lifetime */
  uint64_t scratch;        /* the caller's, behind the tensors in the same region: work space of operations */
} br_memory;

typedef struct br_operation_info {
  const char* name;
  const char* reads;      /* tensor roles, separated by spaces */
  const char* writes;     /* tensor roles, separated by spaces */
  const char* attributes; /* names, separated by spaces */
  uint32_t code;
} br_operation_info;

/* ---- Opening programs ---- */

/* Opens a program. `bytes` must be aligned to 8 and must stay unchanged until br_program_close: constants are read in
 * place, so a file may be mapped. On success `*program` is the program, to be closed with br_program_close. On failure
 * `*program` is null and `error`, if `error_size` > 0, holds one sentence. */
BR_API int br_program_open(const void* bytes, size_t size, br_program** program, char* error, size_t error_size);
/* Opens a program without the heap. Tables and packed weights are placed in `memory`, which must be aligned to 64 and
 * hold `tables` + `packed_weights` of br_memory + 64 bytes. The caller owns `memory` and may reuse it once the program
 * is no longer used; do not call br_program_close. */
BR_API int br_program_open_in(const void* bytes, size_t size, void* memory, size_t memory_size, br_program** program,
                              char* error, size_t error_size);
/* Opens a program whose runs may share their work among `threads` threads (1 to 64, including the caller of br_run).
 * More threads need more scratch memory. br_program_open is the same with 1. */
BR_API int br_program_open_threads(const void* bytes, size_t size, uint32_t threads, br_program** program, char* error,
                                   size_t error_size);
/* Releases a program. Call it once, after all runs have returned; null does nothing. Threads in br_worker_run return
 * first. */
BR_API void br_program_close(br_program* program);
/* Makes the calling thread a worker of `program`: br_run shares its work with all workers. The results have the same
 * bits for any number of workers. Returns when the program is closed. No thread may call it after that, so wait until
 * br_program_workers counts the threads that you started before you close the program. Where runs of one program
 * overlap, one of them gets the workers. A forked child has no workers and runs alone. */
BR_API int br_worker_run(br_program* program);
/* The number of threads in br_worker_run. */
BR_API uint32_t br_program_workers(const br_program* program);

/* ---- Sizes and tensors ---- */

/* Computes what br_program_memory would return, without opening the program. Allocates no more than its tables
 * meanwhile. Errors as br_program_open. */
BR_API int br_program_plan(const void* bytes, size_t size, uint32_t threads, br_memory* memory, char* error,
                           size_t error_size);
/* Writes the memory that running the program takes to `*memory`. */
BR_API void br_program_memory(const br_program* program, br_memory* memory);
/* The most samples that one run takes. */
BR_API uint32_t br_program_max_samples(const br_program* program);
/* The sizes of the regions. The arena's includes `scratch` of br_memory. */
BR_API uint64_t br_program_parameter_bytes(const br_program* program);
BR_API uint64_t br_program_arena_bytes(const br_program* program);
/* The parameters before training, br_program_parameter_bytes of them. They lie in the program's bytes. */
BR_API const void* br_program_initial_parameters(const br_program* program);
/* Writes to `*info` where the tensor called `name` is. BR_BAD_ARGUMENT if there is none. */
BR_API int br_program_tensor(const br_program* program, const char* name, br_tensor_info* info);
/* The instruction set that the program was opened for. */
BR_API const char* br_program_isa(const br_program* program);

/* ---- Running programs ---- */

/* Runs one list (enum br_list) on the caller's `parameters` and `arena`, which must be aligned to 64; a region of 0
 * bytes may be null. Inputs are written to, and results read from, the arena by br_program_tensor. */
BR_API int br_run(const br_program* program, int list, void* parameters, void* arena, const br_run_args* args);

/* A training step over a minibatch larger than max_samples, in parts. The result has the same bits as BR_STEP over the
 * whole minibatch. Each part is written to the arena twice:
 *
 *     br_parts_begin                   once
 *     br_parts_measure                 for each part: forward, backward, and the exponents that the sums need
 *     br_parts_gather                  for each part: forward, backward, and its share of the sums
 *     br_parts_end                     once: update, prepare
 *
 * `minibatch` is the number of all samples; args->samples is that of the part, and in br_parts_end `minibatch`. Nothing
 * else may run in this arena in between. `work` is the caller's: br_parts_bytes bytes, aligned to 64, of any content.
 * br_parts_bytes is 0 for programs that were not compiled for it or whose weights learn within the backward pass. */
BR_API uint64_t br_parts_bytes(const br_program* program);
BR_API int br_parts_begin(const br_program* program, void* arena);
BR_API int br_parts_measure(const br_program* program, void* parameters, void* arena, const br_run_args* args,
                            void* work);
BR_API int br_parts_gather(const br_program* program, void* parameters, void* arena, const br_run_args* args,
                           uint32_t minibatch, void* work);
BR_API int br_parts_end(const br_program* program, void* parameters, void* arena, const br_run_args* args);

/* ---- Instruction sets ---- */

/* The names of the instruction sets that the library was built for, separated by spaces, slowest first. */
BR_API const char* br_isas(void);
/* 1 if the library and the CPU have this instruction set, else 0. */
BR_API int br_isa_supported(const char* name);
/* The instruction set for programs opened from now on: the one of br_set_isa, else that of the environment variable
 * BITREPLAY_ISA, else the fastest that the CPU has. Null if BITREPLAY_ISA names one that cannot be used. */
BR_API const char* br_isa(void);
/* Chooses the instruction set for programs opened from now on. BR_UNKNOWN_ISA if it cannot be used. */
BR_API int br_set_isa(const char* name);

/* ---- Class statistics and the discriminant: docs/law.md section 13 ----
 *
 * Features are int8 in [-127, 127]. All memory is the caller's, and no function allocates. `work` must be aligned to 64
 * and hold as many bytes as the function's description says; its content is not kept between calls. A call that does
 * not return BR_OK has changed nothing. */

/* Per class the number of images and the sum of their features; for all classes together the sums of products. */
typedef struct br_sums {
  uint32_t features;    /* d: 1 to 8192 */
  uint32_t classes;     /* 1 or more */
  uint32_t bits;        /* of class_sums and products: 32 or 64; states use br_sums_bits of the extent */
  int64_t* counts;      /* [classes] */
  void* class_sums;     /* [classes][features] */
  void* products;       /* [features (features + 1) / 2], the lower triangle by rows */
  void* class_products; /* [classes][features (features + 1) / 2], which add up to `products`; or null */
} br_sums;

/* The constants of shrinkage: lambda = min(cap, top d / bottom n), at least 1/1024, for d features and n images; means
 * of classes of m images are drawn to the middle by m / (m + pictures). All 0: the default, {1, 1, 4, 8}. */
typedef struct br_shrinkage {
  uint32_t cap;      /* 1 to 8 */
  uint32_t top;      /* 1 to 64 */
  uint32_t bottom;   /* 1 to 64 */
  uint32_t pictures; /* 1 to 8 */
} br_shrinkage;

/* Consecutive features that share one shrinkage lambda = top / bottom, in [1/1024, 8], with top * bottom < 2^62. If
 * both are 0, it is br_sums_shrinkage. */
typedef struct br_sums_part {
  int64_t length;
  int64_t top;
  int64_t bottom;
} br_sums_part;

/* A linear discriminant. The real score is the integer score times pictures * 2^exponent. */
typedef struct br_solution {
  int32_t* weights; /* [classes][features], the caller's */
  int64_t* biases;  /* [classes], the caller's; -2^62 for a class without images */
  uint32_t features;
  uint32_t classes;
  int64_t pictures;
  int32_t exponent;
  uint32_t dropped_features; /* features with weights 0, since others determine them */
} br_solution;

/* The width that sums of this extent are stored with: 32 up to 131,072, else 64. */
BR_API uint32_t br_sums_bits(int64_t pictures);
/* The number of images; if a forgotten class left its scatter, at least as many as the products imply. -1 if the sums
 * are invalid. */
BR_API int64_t br_sums_extent(const br_sums* sums);
/* BR_OK if images with these sums can exist as far as single features and pairs tell, else BR_IMPOSSIBLE. `forgot` is 1
 * if a class may have left its scatter. `work` holds 8 bytes per feature. */
BR_API int br_sums_possible(const br_sums* sums, int forgot, void* work);
/* BR_OK if the sums can be those of a part's images and of more, as far as counts, class sums and squares tell, else
 * BR_OTHER_BASE. Class number c is class rows[c] of the part, or not in it (-1); `forgot` is 1 if a class was forgotten
 * since. `work` holds 8 bytes per feature. */
BR_API int br_sums_contain(const br_sums* sums, const br_sums* part, const int32_t* rows, int forgot, void* work);
/* BR_OK if the scatter within classes, of sums that are possible, has a factor (is positive semidefinite), else
 * BR_IMPOSSIBLE. `work` holds br_sums_solve_bytes. */
BR_API int br_sums_has_factor(const br_sums* sums, void* work);
/* Adds (sign 1) or subtracts (sign -1) images: x[pictures][features] with labels[pictures]. Sums of 32 bits hold
 * 131,072 images at most. `work` holds br_sums_add_bytes. */
BR_API int br_sums_add(br_sums* sums, const int8_t* x, const int32_t* labels, uint64_t pictures, int sign, void* work);
BR_API uint64_t br_sums_add_bytes(uint32_t features);
/* Adds or subtracts other sums, which may have another width. Adding to zeros thus widens or narrows. Both have
 * class_products, or neither. */
BR_API int br_sums_combine(br_sums* sums, const br_sums* other, int sign);
/* The extent of the sums without class number `row`, for br_sums_forget. `work` holds 8 bytes per feature. */
BR_API int64_t br_sums_extent_without(const br_sums* sums, uint32_t row, void* work);
/* Removes what the sum s of a class of n images makes of the products, s s^T / n, rounded; its scatter stays. With
 * class_products it goes too. The sums' width must be that of br_sums_extent_without, or wider. The class's count, sum
 * and own products become 0. `work` holds 8 bytes per feature. */
BR_API int br_sums_forget(br_sums* sums, uint32_t row, void* work);
/* lambda = top / bottom of these constants; null: of the default ones, min(1, d / 4n). BR_BAD_ARGUMENT if one of them
 * is out of range. */
BR_API int br_sums_shrinkage(const br_shrinkage* shrinkage, int64_t pictures, int64_t features, int64_t* top,
                             int64_t* bottom);
/* Computes the discriminant into the arrays of `solution`. The lengths of all parts add up to the number of features.
 * `work` holds br_sums_solve_bytes. */
BR_API int br_sums_solve(const br_sums* sums, const br_sums_part* parts, uint32_t part_count, void* work,
                         br_solution* solution);
BR_API uint64_t br_sums_solve_bytes(uint32_t features, uint32_t classes);
/* Writes scores[pictures][classes]. The answer is the first class with the largest score. */
BR_API int br_sums_scores(const br_solution* solution, const int8_t* x, uint64_t pictures, int64_t* scores);

/* ---- The library ---- */

/* A sentence about a value of `enum br_error`, without a full stop. */
BR_API const char* br_error_text(int error);
/* The library's version, the package's: "0.3.0". */
BR_API const char* br_version(void);
/* The version of this interface. It is raised when a function or structure changes so that programs must be compiled
 * again: a program may use the library if BR_ABI, of the header, equals br_abi(), of the library. */
#define BR_ABI 9
BR_API int br_abi(void);
/* Describes operation number `index` of this library in `*info`. Returns 1, or 0 beyond the last. */
BR_API int br_operation(size_t index, br_operation_info* info);

#ifdef __cplusplus
}
#endif
#endif
