// What can be called from outside: one list of a program, or a step.
#include "machine/runner.h"

int bitreplay::run_regions(const br_program* program, void* parameters, void* arena, const br_run_args* args,
                           int64_t max_samples, uint8_t* regions[3]) {
  if (!args || args->samples < 1 || args->samples > max_samples) return BR_BAD_ARGUMENT;
  const int64_t largest_rate = int64_t(1) << 31, largest_shift = 4096;
  if (args->rate_mantissa <= -largest_rate || args->rate_mantissa >= largest_rate) return BR_BAD_ARGUMENT;
  if (args->rate_shift < -largest_shift || args->rate_shift > largest_shift) return BR_BAD_ARGUMENT;
  if ((program->parameter_bytes && !parameters) || (br_program_arena_bytes(program) && !arena)) return BR_BAD_ARGUMENT;
  if (program->parameter_bytes && reinterpret_cast<uintptr_t>(parameters) % 64) return BR_MISALIGNED;
  if (reinterpret_cast<uintptr_t>(arena) % 64) return BR_MISALIGNED;
  regions[BR_CONSTANT] = const_cast<uint8_t*>(program->constants);
  regions[BR_PARAMETER] = static_cast<uint8_t*>(parameters);
  regions[BR_ARENA] = static_cast<uint8_t*>(arena);
  return BR_OK;
}

int br_run(const br_program* program, int list, void* parameters, void* arena, const br_run_args* args) {
  using namespace bitreplay;
  if (!program || list < BR_PREPARE || list > BR_STEP) return BR_BAD_ARGUMENT;
  uint8_t* regions[3];
  if (const int error = run_regions(program, parameters, arena, args, program->max_samples, regions)) return error;
  Runner runner(*program, regions, *args);
  if (list != BR_STEP) return runner.run(uint32_t(list));
  const uint32_t step[] = {BR_FORWARD, BR_BACKWARD, BR_UPDATE, BR_PREPARE};
  for (uint32_t part : step)
    if (int error = runner.run(part)) return error;
  return BR_OK;
}

const char* br_error_text(int error) {
  switch (error) {
    case BR_OK: return "no error";
    case BR_MALFORMED: return "the program, model or state is malformed";
    case BR_NO_MEMORY: return "not enough memory";
    case BR_BAD_ARGUMENT: return "an argument is null or out of range";
    case BR_MISALIGNED: return "a pointer is not aligned";
    case BR_BAD_LABEL: return "a label is not one of the program's classes";
    case BR_UNKNOWN_ISA: return "the instruction set is unknown or not supported by this CPU";
    case BR_FULL: return "no room for more: a limit of the learner is reached";
    case BR_UNKNOWN_CLASS: return "there is no class with this name";
    case BR_NAME_TAKEN: return "another class already has this name";
    case BR_NEVER_LEARNED: return "this was never learned, or not as this class";
    case BR_NOTHING_LEARNED: return "nothing has been learned yet";
    case BR_BAD_ORDER: return "not allowed now: an experience has not begun, or has not ended";
    case BR_DAMAGED: return "the state is truncated or damaged";
    case BR_OTHER_MODEL: return "the state belongs to another model";
    case BR_OTHER_SETTINGS: return "the state was learned with other settings";
    case BR_NO_STATE: return "there is no saved state";
    case BR_STORAGE: return "reading or writing failed";
    case BR_OTHER_BASE:
      return "a state does not contain the base: it began as another state, or something has been forgotten since";
    case BR_IMPOSSIBLE: return "no images have these class statistics";
    case BR_UNSUPPORTED: return "the learner's strategy has no such function";
    default: return "unknown error";
  }
}
