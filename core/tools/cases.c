/* Runs the forward list of many small programs, each in memory that ends at a page that cannot be touched.
 *
 *     cases CASES RESULTS
 *
 * CASES: for each case u64 program bytes, u64 arena bytes, br_run_args, the program, the arena's first content (sizes
 * are multiples of 8). RESULTS: the arenas afterwards, one behind the other. Prints the instruction set and the number
 * of cases. */
#include "bitreplay.h"
#include "file.h"

struct head {
  uint64_t program_bytes, arena_bytes;
  br_run_args args;
};

int main(int count, char** words) {
  if (count != 3) stop("usage", "cases CASES RESULTS");
  size_t size, at = 0, cases = 0;
  uint8_t* file = read_file(words[1], &size);
  FILE* results = fopen(words[2], "wb");
  if (!results) stop(words[2], "cannot be written");
  for (struct head head; at < size; at += sizeof head + head.program_bytes + head.arena_bytes, ++cases) {
    memcpy(&head, file + at, sizeof head);
    uint8_t* bytes = guarded(head.program_bytes);
    memcpy(bytes, file + at + sizeof head, head.program_bytes);
    br_program* program;
    char error[256];
    if (br_program_open(bytes, head.program_bytes, &program, error, sizeof error)) stop(words[1], error);
    size_t arena_bytes = br_program_arena_bytes(program);
    uint8_t *arena = guarded(arena_bytes), *parameters = guarded(64);
    memcpy(arena, file + at + sizeof head + head.program_bytes, head.arena_bytes);
    int failed = br_run(program, BR_FORWARD, parameters, arena, &head.args);
    if (failed) stop("a case failed", br_error_text(failed));
    if (fwrite(arena, 1, head.arena_bytes, results) != head.arena_bytes) stop(words[2], "cannot be written");
    br_program_close(program);
    release(bytes, head.program_bytes);
    release(arena, arena_bytes);
    release(parameters, 64);
  }
  if (fclose(results)) stop(words[2], "cannot be written");
  printf("%s %zu\n", br_isa(), cases);
  return 0;
}
