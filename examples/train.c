/* Learn on a device without Python: open a program file, run training steps, keep the learned parameters.
 *
 *   train PROGRAM LATENTS LABELS STEPS PARAMETERS_OUT
 *
 * PROGRAM is what Program.to_bytes writes, LATENTS and LABELS one minibatch as raw little-endian arrays. The learned
 * parameters are written as they lie in memory; Python ends with the same bytes (tests/test_examples.py).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bitreplay.h"

static void* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (!file) { fprintf(stderr, "%s cannot be opened\n", path); exit(1); }
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  void* content = aligned_alloc(64, (*size + 63) / 64 * 64 + 64);
  if (!content || fread(content, 1, *size, file) != *size) { fprintf(stderr, "%s cannot be read\n", path); exit(1); }
  fclose(file);
  return content;
}

static void place(const br_program* program, const char* name, unsigned char* arena, const char* path) {
  br_tensor_info where;
  size_t size;
  void* content = read_file(path, &size);
  if (br_program_tensor(program, name, &where)) { fprintf(stderr, "the program has no tensor %s\n", name); exit(1); }
  memcpy(arena + where.offset, content, size);
  free(content);
}

int main(int count, char** argument) {
  if (count != 6) { fprintf(stderr, "usage: train PROGRAM LATENTS LABELS STEPS PARAMETERS_OUT\n"); return 2; }
  size_t size, samples;
  char error[256];
  br_program* program;
  void* bytes = read_file(argument[1], &size);
  free(read_file(argument[3], &samples));
  if (br_program_open(bytes, size, &program, error, sizeof error)) { fprintf(stderr, "%s\n", error); return 1; }

  size_t parameter_bytes = br_program_parameter_bytes(program);
  unsigned char* parameters = aligned_alloc(64, (parameter_bytes + 63) / 64 * 64);
  unsigned char* arena = aligned_alloc(64, (br_program_arena_bytes(program) + 63) / 64 * 64);
  memcpy(parameters, br_program_initial_parameters(program), parameter_bytes);
  memset(arena, 0, br_program_arena_bytes(program));

  br_run_args run = {.seed = 1, .samples = (int64_t)(samples / 4), .rate_mantissa = 1717986918, .rate_shift = 35};
  int failed = br_run(program, BR_PREPARE, parameters, arena, &run);
  for (long step = 0; !failed && step < atol(argument[4]); ++step) {
    place(program, "latents", arena, argument[2]);
    place(program, "labels", arena, argument[3]);
    run.step = (uint64_t)step;
    failed = br_run(program, BR_STEP, parameters, arena, &run);
  }
  if (failed) { fprintf(stderr, "%s\n", br_error_text(failed)); return 1; }

  FILE* out = fopen(argument[5], "wb");
  if (!out || fwrite(parameters, 1, parameter_bytes, out) != parameter_bytes || fclose(out)) return 1;
  printf("%s\n", br_program_path(program));
  br_program_close(program);
  free(arena), free(parameters), free(bytes);
  return 0;
}
