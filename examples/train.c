/* Trains on a device without Python: opens a program file, runs training steps, writes the learned parameters.
 *
 *   train PROGRAM LATENTS LABELS STEPS PARAMETERS_OUT
 *
 * PROGRAM is written by Program.to_bytes; LATENTS and LABELS are one minibatch as raw little-endian arrays. The learned
 * parameters are written as they are in memory; Python ends with the same bytes (tests/test_examples.py).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bitreplay.h"

static void stop(const char* what, const char* why) {
  fprintf(stderr, "%s %s\n", what, why);
  exit(1);
}

static void* room(size_t size) {
  void* memory = aligned_alloc(64, (size + 63) / 64 * 64 + 64);
  if (!memory) stop("there is no memory", "for the program");
  return memset(memory, 0, size);
}

static void* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  long length = file && !fseek(file, 0, SEEK_END) ? ftell(file) : -1;
  if (length < 0 || length > 1L << 30) stop(path, "cannot be read as a file of at most 1 GiB");
  rewind(file);
  void* content = room((size_t)length);
  if (fread(content, 1, (size_t)length, file) != (size_t)length) stop(path, "cannot be read");
  fclose(file);
  *size = (size_t)length;
  return content;
}

/* Returns where a tensor begins; `size` must be that of the given number of samples. */
static unsigned char* place(const br_program* program, const char* name, unsigned char* arena, size_t samples,
                            size_t size) {
  static const size_t width[] = {1, 2, 4, 8, 1, 4, 8};
  br_tensor_info where;
  if (br_program_tensor(program, name, &where) || where.region != BR_ARENA || !where.per_sample)
    stop("the program has no input named", name);
  size_t expected = samples * width[where.dtype];
  for (uint32_t axis = 0; axis < where.dimensions; ++axis) expected *= where.shape[axis];
  if (samples < 1 || samples > br_program_max_samples(program) || size != expected)
    stop(name, "are not as many bytes as the program reads for as many samples as there are labels");
  return arena + where.offset;
}

int main(int count, char** argument) {
  if (count != 6) {
    fprintf(stderr, "usage: train PROGRAM LATENTS LABELS STEPS PARAMETERS_OUT\n");
    return 2;
  }
  size_t size, code_bytes, label_bytes;
  char error[256];
  br_program* program;
  void *bytes = read_file(argument[1], &size), *codes = read_file(argument[2], &code_bytes);
  void* labels = read_file(argument[3], &label_bytes);
  if (br_program_open(bytes, size, &program, error, sizeof error)) stop(argument[1], error);

  size_t parameter_bytes = br_program_parameter_bytes(program), samples = label_bytes / 4;
  unsigned char *parameters = room(parameter_bytes), *arena = room(br_program_arena_bytes(program));
  memcpy(parameters, br_program_initial_parameters(program), parameter_bytes);
  unsigned char* code_place = place(program, "latents", arena, samples, code_bytes);
  unsigned char* label_place = place(program, "labels", arena, samples, label_bytes);

  br_run_args run = {.seed = 1, .samples = (int64_t)samples, .rate_mantissa = 1717986918, .rate_shift = 35};
  int failed = br_run(program, BR_PREPARE, parameters, arena, &run);
  for (long step = 0; !failed && step < atol(argument[4]); ++step) {
    memcpy(code_place, codes, code_bytes);
    memcpy(label_place, labels, label_bytes);
    run.step = (uint64_t)step;
    failed = br_run(program, BR_STEP, parameters, arena, &run);
  }
  if (failed) stop("learning failed:", br_error_text(failed));

  FILE* out = fopen(argument[5], "wb");
  if (!out || fwrite(parameters, 1, parameter_bytes, out) != parameter_bytes || fclose(out))
    stop(argument[5], "cannot be written");
  printf("%s\n", br_program_isa(program));
  br_program_close(program);
  free(arena), free(parameters), free(labels), free(codes), free(bytes);
  return 0;
}
