/* Trains a program and writes its parameters: the same bytes on every machine and instruction set.
 *
 *     golden PROGRAM INPUTS STEPS SAMPLES SEED RATE_MANTISSA RATE_SHIFT PARAMETERS
 *
 * INPUTS holds minibatches of SAMPLES level codes followed by as many labels; step i takes minibatch i modulo their
 * number. Prints the instruction set. */
#include "bitreplay.h"
#include "file.h"

static uint8_t* place(const br_program* program, const char* name, uint8_t* arena, size_t samples, size_t* bytes) {
  static const size_t width[] = {1, 2, 4, 8, 1, 4, 8};
  br_tensor_info info;
  if (br_program_tensor(program, name, &info)) stop(name, "the program has no such tensor");
  *bytes = samples * width[info.dtype];
  for (uint32_t axis = 0; axis < info.dimensions; ++axis) *bytes *= info.shape[axis];
  return arena + info.offset;
}

int main(int count, char** words) {
  if (count != 9) stop("usage", "golden PROGRAM INPUTS STEPS SAMPLES SEED RATE_MANTISSA RATE_SHIFT PARAMETERS");
  size_t size, input_bytes, code_bytes, label_bytes;
  uint8_t *bytes = read_file(words[1], &size), *inputs = read_file(words[2], &input_bytes);
  long long steps = atoll(words[3]);
  br_run_args args = {strtoull(words[5], NULL, 10), 0, atoll(words[4]), atoll(words[6]), atoll(words[7])};
  br_program* program;
  char error[256];
  if (br_program_open(bytes, size, &program, error, sizeof error)) stop(words[1], error);
  size_t parameter_bytes = br_program_parameter_bytes(program);
  uint8_t *parameters = guarded(parameter_bytes), *arena = guarded(br_program_arena_bytes(program));
  memcpy(parameters, br_program_initial_parameters(program), parameter_bytes);
  uint8_t* codes = place(program, "latents", arena, (size_t)args.samples, &code_bytes);
  uint8_t* labels = place(program, "labels", arena, (size_t)args.samples, &label_bytes);
  size_t minibatches = input_bytes / (code_bytes + label_bytes);
  if (minibatches == 0) stop(words[2], "holds no whole minibatch");
  if (br_run(program, BR_PREPARE, parameters, arena, &args)) stop(words[1], "cannot be prepared");
  for (args.step = 0; args.step < (uint64_t)steps; ++args.step) {
    const uint8_t* from = inputs + args.step % minibatches * (code_bytes + label_bytes);
    memcpy(codes, from, code_bytes);
    memcpy(labels, from + code_bytes, label_bytes);
    int failed = br_run(program, BR_STEP, parameters, arena, &args);
    if (failed) stop("a step failed", br_error_text(failed));
  }
  write_file(words[8], parameters, parameter_bytes);
  printf("%s\n", br_program_path(program));
  br_program_close(program);
  return 0;
}
