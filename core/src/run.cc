// The loop over a program's records.
#include "operations.h"

namespace bitreplay {
namespace {

int run_list(const br_program& program, uint32_t list, uint8_t* const* regions, const br_run_args& args) {
  for (uint32_t i = 0; i < program.record_count; ++i) {
    const Record& record = program.records[i];
    if (record.list != list) continue;
    Call call{program, record, args, regions};
    if (record.derived == Derived::scratch) record.operation->derive(call, call.derived());
    if (int error = record.run(call)) return error;
  }
  return BR_OK;
}

}  // namespace
}  // namespace bitreplay

int br_run(const br_program* program, int list, void* parameters, void* arena, const br_run_args* args) {
  using namespace bitreplay;
  if (list < BR_PREPARE || list > BR_STEP || !args) return BR_BAD_ARGUMENT;
  if (args->samples < 1 || args->samples > int64_t(program->max_samples)) return BR_BAD_ARGUMENT;
  const int64_t largest_rate = int64_t(1) << 31, largest_shift = 4096;
  if (args->rate_mantissa < -largest_rate || args->rate_mantissa > largest_rate) return BR_BAD_ARGUMENT;
  if (args->rate_shift < -largest_shift || args->rate_shift > largest_shift) return BR_BAD_ARGUMENT;
  if (program->parameter_bytes && reinterpret_cast<uintptr_t>(parameters) % 64) return BR_MISALIGNED;
  if (reinterpret_cast<uintptr_t>(arena) % 64) return BR_MISALIGNED;
  uint8_t* const regions[3] = {const_cast<uint8_t*>(program->constants), static_cast<uint8_t*>(parameters),
                               static_cast<uint8_t*>(arena)};
  if (list != BR_STEP) return run_list(*program, uint32_t(list), regions, *args);
  const uint32_t step[] = {BR_FORWARD, BR_BACKWARD, BR_UPDATE, BR_PREPARE};
  for (uint32_t part : step)
    if (int error = run_list(*program, part, regions, *args)) return error;
  return BR_OK;
}

const char* br_error_text(int error) {
  switch (error) {
    case BR_OK: return "no error";
    case BR_MALFORMED: return "the program is malformed";
    case BR_NO_MEMORY: return "there is not enough memory";
    case BR_BAD_ARGUMENT: return "an argument is out of range";
    case BR_MISALIGNED: return "a region is not aligned";
    case BR_BAD_LABEL: return "a label is not one of the program's classes";
    case BR_UNKNOWN_PATH: return "the instruction set is unknown, or this CPU lacks it";
    default: return "unknown error";
  }
}
