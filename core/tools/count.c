/* Runs one list of a program between two marks that core/tools/qemu_count.c counts from and to.
 *
 *     count PROGRAM LIST SAMPLES        LIST: 0 prepare, 1 forward, 2 backward, 3 update, 4 step
 *
 * The arena's content is random but always the same; labels are 0. Prints the instruction set. */
#include "bitreplay.h"
#include "file.h"

#define MARK 0xB17 /* no system call has this number: the kernel refuses it, the plugin sees it */

int main(int count, char** words) {
  if (count != 4) stop("usage", "count PROGRAM LIST SAMPLES");
  size_t size;
  uint8_t* bytes = read_file(words[1], &size);
  br_run_args args = {1, 1, atoll(words[3]), 1 << 30, 37};
  br_program* program;
  char error[256];
  if (br_program_open(bytes, size, &program, error, sizeof error)) stop(words[1], error);
  size_t parameter_bytes = br_program_parameter_bytes(program), arena_bytes = br_program_arena_bytes(program);
  uint8_t *parameters = guarded(parameter_bytes ? parameter_bytes : 64), *arena = guarded(arena_bytes);
  memcpy(parameters, br_program_initial_parameters(program), parameter_bytes);
  uint64_t state = 1;
  for (size_t i = 0; i < arena_bytes; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    arena[i] = (uint8_t)(state >> 56);
  }
  br_tensor_info labels;
  if (!br_program_tensor(program, "labels", &labels)) memset(arena + labels.offset, 0, 4 * (size_t)args.samples);
  if (br_run(program, BR_PREPARE, parameters, arena, &args)) stop(words[1], "cannot be prepared");
  syscall(MARK, 1);
  int failed = br_run(program, atoi(words[2]), parameters, arena, &args);
  syscall(MARK, 0);
  if (failed) stop(words[1], br_error_text(failed));
  printf("%s\n", br_program_path(program));
  return 0;
}
