/* Runs lists of programs between two marks that core/tools/qemu_count.c counts from and to.
 *
 *     count PROGRAM LIST SAMPLES                        LIST: 0 prepare, 1 forward, 2 backward, 3 update, 4 step
 *     count PROGRAM LIST SAMPLES PROGRAM LIST ...       one count each, on the same memory
 *
 * A program alone is prepared before it is counted. Programs that follow one another are parts of one, with the same
 * tensors, a record each: their counts say what each record takes. The arena's content is random but always the same;
 * labels are 0. Prints the instruction set. */
#include "bitreplay.h"
#include "file.h"

#define MARK 0xB17 /* no system call has this number: the kernel refuses it, the plugin sees it */

int main(int count, char** words) {
  if (count < 4 || count % 2) stop("usage", "count PROGRAM LIST SAMPLES [PROGRAM LIST]...");
  const int programs = (count - 2) / 2;
  char** names = malloc((size_t)programs * sizeof *names);
  br_program** program = malloc((size_t)programs * sizeof *program);
  size_t arena_bytes = 0;
  for (int at = 0; at < programs; ++at) {
    names[at] = words[at ? 2 * at + 2 : 1];
    size_t size;
    uint8_t* bytes = read_file(names[at], &size);
    char error[256];
    if (br_program_open(bytes, size, &program[at], error, sizeof error)) stop(names[at], error);
    if (br_program_arena_bytes(program[at]) > arena_bytes) arena_bytes = br_program_arena_bytes(program[at]);
  }
  br_run_args args = {1, 1, atoll(words[3]), 1 << 30, 37};
  size_t parameter_bytes = br_program_parameter_bytes(program[0]);
  uint8_t *parameters = guarded(parameter_bytes ? parameter_bytes : 64), *arena = guarded(arena_bytes);
  memcpy(parameters, br_program_initial_parameters(program[0]), parameter_bytes);
  uint64_t state = 1;
  for (size_t i = 0; i < arena_bytes; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    arena[i] = (uint8_t)(state >> 56);
  }
  br_tensor_info labels;
  if (!br_program_tensor(program[0], "labels", &labels)) memset(arena + labels.offset, 0, 4 * (size_t)args.samples);
  if (programs == 1 && br_run(program[0], BR_PREPARE, parameters, arena, &args)) stop(names[0], "cannot be prepared");
  for (int at = 0; at < programs; ++at) {
    const int list = atoi(words[at ? 2 * at + 3 : 2]);
    syscall(MARK, 1);
    int failed = br_run(program[at], list, parameters, arena, &args);
    syscall(MARK, 0);
    if (failed) stop(names[at], br_error_text(failed));
  }
  printf("%s\n", br_program_isa(program[0]));
  return 0;
}
