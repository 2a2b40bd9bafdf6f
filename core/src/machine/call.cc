#include "machine/call.h"

namespace bitreplay {

Call call_of(const br_program& program, const Record& record, const br_run_args& run, uint8_t* const* regions,
             int64_t first, int64_t count) {
  uint8_t* arena = regions[BR_ARENA];
  Call call = {program, record, run, count, 0, 1, arena ? arena + program.arena_bytes : nullptr, {}};
  for (int role = 0; role < int(record.tensor_count); ++role) {
    if (record.tensors[role] < 0) continue;
    const Tensor& tensor = program.tensors[record.tensors[role]];
    uint8_t* region = tensor.info.region == BR_PASSING ? nullptr : regions[tensor.info.region];
    if (region)
      call.roles[role] = region + tensor.info.offset + (tensor.info.per_sample ? tensor.bytes(uint64_t(first)) : 0);
  }
  return call;
}

}  // namespace bitreplay
