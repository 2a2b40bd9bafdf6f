/* Trains a program and writes its parameters: the same bytes on every machine and instruction set.
 *
 *     golden PROGRAM INPUTS STEPS SAMPLES SEED RATE_MANTISSA RATE_SHIFT PARAMETERS
 *
 * INPUTS holds minibatches of SAMPLES level codes followed by as many labels; step i takes minibatch i modulo their
 * number, in parts if the program takes fewer samples. Prints the instruction set. */
#include "bitreplay.h"
#include "file.h"

static uint8_t* tensor_bytes(const br_program* program, const char* name, uint8_t* arena, size_t samples,
                             size_t* bytes) {
  static const size_t width[] = {1, 2, 4, 8, 1, 4, 8};
  br_tensor_info info;
  if (br_program_tensor(program, name, &info)) stop(name, "the program has no such tensor");
  *bytes = samples * width[info.dtype];
  for (uint32_t axis = 0; axis < info.dimensions; ++axis) *bytes *= info.shape[axis];
  return arena + info.offset;
}

/* A step in parts: every part passes twice. `codes` and `labels` are one sample's bytes. */
static int step_in_parts(const br_program* program, uint8_t* parameters, uint8_t* arena, const br_run_args* args,
                         const uint8_t* from, size_t codes, size_t labels, uint8_t* work) {
  const int64_t max_samples = br_program_max_samples(program);
  size_t unused;
  int failed = br_parts_begin(program, arena);
  for (int gather = 0; gather < 2; ++gather)
    for (int64_t first = 0; first < args->samples && !failed; first += max_samples) {
      br_run_args part = *args;
      part.samples = args->samples - first < max_samples ? args->samples - first : max_samples;
      const uint8_t* label = from + (size_t)args->samples * codes + (size_t)first * labels;
      memcpy(tensor_bytes(program, "latents", arena, 1, &unused), from + (size_t)first * codes,
             (size_t)part.samples * codes);
      memcpy(tensor_bytes(program, "labels", arena, 1, &unused), label, (size_t)part.samples * labels);
      failed = gather ? br_parts_gather(program, parameters, arena, &part, (uint32_t)args->samples, work)
                      : br_parts_measure(program, parameters, arena, &part, work);
    }
  return failed ? failed : br_parts_end(program, parameters, arena, args);
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
  uint8_t* codes = tensor_bytes(program, "latents", arena, (size_t)args.samples, &code_bytes);
  uint8_t* labels = tensor_bytes(program, "labels", arena, (size_t)args.samples, &label_bytes);
  const int in_parts = args.samples > (int64_t)br_program_max_samples(program);
  const size_t code = code_bytes / (size_t)args.samples, label = label_bytes / (size_t)args.samples;
  uint8_t* work = in_parts ? guarded(br_parts_bytes(program)) : NULL;
  size_t minibatches = input_bytes / (code_bytes + label_bytes);
  if (minibatches == 0) stop(words[2], "holds no whole minibatch");
  br_run_args one = args;
  one.samples = 1;
  if (br_run(program, BR_PREPARE, parameters, arena, &one)) stop(words[1], "cannot be prepared");
  for (args.step = 0; args.step < (uint64_t)steps; ++args.step) {
    const uint8_t* from = inputs + args.step % minibatches * (code_bytes + label_bytes);
    int failed;
    if (in_parts) {
      failed = step_in_parts(program, parameters, arena, &args, from, code, label, work);
    } else {
      memcpy(codes, from, code_bytes);
      memcpy(labels, from + code_bytes, label_bytes);
      failed = br_run(program, BR_STEP, parameters, arena, &args);
    }
    if (failed) stop("a step failed", br_error_text(failed));
  }
  write_file(words[8], parameters, parameter_bytes);
  printf("%s\n", br_program_isa(program));
  br_program_close(program);
  return 0;
}
