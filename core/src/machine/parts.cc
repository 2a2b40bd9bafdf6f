// A step whose minibatch comes in parts, bit for bit that of the whole: docs/law.md section 9, "A minibatch in parts".
//
// Sums over the minibatch have one exponent, which the largest exponent of all samples decides. So all parts pass
// twice: first their exponents are measured, then the sums of each sample are rounded to the common one and added. Of a
// single sample an operation that merges gives its sum exactly, shifted left into 61 bits.
#include <cstring>

#include "arithmetic/quant.h"
#include "machine/runner.h"

namespace bitreplay {
namespace {

constexpr int32_t kNone = int32_t(kNoGradient);

// What a record that merges writes.
struct Merged {
  int sums[kMaxRoles], count = 0, exponents = -1;
  int places[kMaxRoles];  // of each sum's exponent

  explicit Merged(const br_program& program, const Record& record) {
    Role roles[kMaxRoles];
    const int all = roles_of(*record.operation, roles);
    int written = 0;
    for (int role = 0; role < all; ++role) {
      if (!roles[role].written) continue;
      if (exponents >= 0 && record.tensors[exponents] >= 0) {
        sums[count] = exponents;
        places[count++] = written - 1;
      }
      exponents = role;
      ++written;
    }
    const bool one = program.tensors[record.tensors[exponents]].elements == 1;
    for (int k = 0; k < count; ++k) places[k] = one ? 0 : places[k];
  }
};

const Tensor& tensor_of(const br_program& program, const Record& record, int role) {
  return program.tensors[record.tensors[role]];
}

uint64_t padded_bytes(const Tensor& tensor) { return (tensor.bytes(1) + 63) / 64 * 64; }

bool alone(const br_program& program, int32_t number) {
  const Tensor& own = program.tensors[number];
  const uint64_t first = own.info.offset, last = first + own.bytes(1);
  for (uint32_t other = 0; other < program.tensor_count; ++other) {
    const Tensor& tensor = program.tensors[other];
    if (int32_t(other) == number || tensor.info.region != BR_ARENA) continue;
    const uint64_t end = tensor.info.offset + tensor.bytes(tensor.info.per_sample ? program.max_samples : 1);
    if (tensor.info.offset < last && first < end) return false;
  }
  return own.info.region == BR_ARENA && !own.info.per_sample;
}

// Whether what the record writes can wait for the other parts of the minibatch: it is a sample's, or it is merged and
// lies where nothing else does.
bool can_wait(const br_program& program, const Record& record) {
  const bool merges = record.operation->merges && record.list == BR_BACKWARD;
  Role roles[kMaxRoles];
  const int all = roles_of(*record.operation, roles);
  for (int role = 0; role < all; ++role) {
    if (record.tensors[role] < 0) continue;
    const Tensor& tensor = tensor_of(program, record, role);
    const bool once = record.list == BR_UPDATE || record.list == BR_PREPARE;
    if (once && tensor.info.per_sample) return false;
    if (once || !roles[role].written || role == record.operation->counts) continue;
    if (merges ? !alone(program, record.tensors[role]) : !tensor.info.per_sample) return false;
  }
  if (!merges) return true;
  const Merged merged(program, record);
  const Tensor& exponents = tensor_of(program, record, merged.exponents);
  bool fits =
      exponents.info.dtype == BR_INT32 && (exponents.elements == 1 || exponents.elements >= uint64_t(merged.count));
  for (int k = 0; k < merged.count; ++k) {
    fits = fits && tensor_of(program, record, merged.sums[k]).info.dtype == BR_INT64;
    fits = fits && uint64_t(merged.places[k]) < exponents.elements;
  }
  return fits;
}

struct Minibatch {
  bool gather;
  int64_t bits;  // of the number of its samples
  uint8_t* work;
};

// The call with what it writes in `work`, done.
Call aside(Runner& runner, const Merged& merged, Call call, uint8_t* work) {
  for (int k = 0; k <= merged.count; ++k) {
    const int role = k < merged.count ? merged.sums[k] : merged.exponents;
    call.roles[role] = work;
    work += padded_bytes(call.tensor(role));
  }
  if (const int error = call.record.run(call)) runner.fail(error);
  return call;
}

void merge(Runner& runner, const Record& record, void* context) {
  const Minibatch& minibatch = *static_cast<const Minibatch*>(context);
  const Call whole = runner.call(record, 0, runner.samples());
  const Merged merged(whole.program, record);
  int32_t* tops = whole.data<int32_t>(merged.exponents);
  if (!minibatch.gather) {
    const int32_t* exponents = aside(runner, merged, whole, minibatch.work).data<int32_t>(merged.exponents);
    const int32_t bits = int32_t(bit_length(runner.samples()));
    for (int64_t k = 0; k < whole.elements(merged.exponents); ++k)
      if (exponents[k] > kNone) tops[k] = int32_t(max_of(tops[k], int64_t(exponents[k]) - bits));
    return;
  }
  for (int64_t n = 0; n < runner.samples(); ++n) {
    const Call one = aside(runner, merged, runner.call(record, n, 1), minibatch.work);
    for (int k = 0; k < merged.count; ++k) {
      const int64_t own = one.data<int32_t>(merged.exponents)[merged.places[k]];
      if (own <= kNone) continue;
      const int64_t shift = tops[merged.places[k]] + minibatch.bits - own;
      int64_t* total = whole.data<int64_t>(merged.sums[k]);
      const int64_t* sums = one.data<int64_t>(merged.sums[k]);
      for (int64_t i = 0; i < whole.elements(merged.sums[k]); ++i)
        total[i] = add(total[i], round_shift(sums[i], shift));
    }
  }
}

template <class Do>
void each_merged(const br_program& program, const Do& work) {
  for (uint32_t i = 0; i < program.record_count; ++i)
    if (program.records[i].operation->merges && program.records[i].list == BR_BACKWARD) work(program.records[i]);
}

int pass(const br_program* program, void* parameters, void* arena, const br_run_args* args,
         const Minibatch& minibatch) {
  if (!program || !minibatch.work || !br_parts_bytes(program)) return BR_BAD_ARGUMENT;
  if (reinterpret_cast<uintptr_t>(minibatch.work) % 64) return BR_MISALIGNED;
  uint8_t* regions[3];
  if (const int error = run_regions(program, parameters, arena, args, program->max_samples, regions)) return error;
  Minibatch context = minibatch;
  Runner runner(*program, regions, *args, merge, &context);
  runner.counting = minibatch.gather;
  const int error = runner.run(BR_FORWARD);
  return error ? error : runner.run(BR_BACKWARD);
}

}  // namespace
}  // namespace bitreplay

using namespace bitreplay;

uint64_t br_parts_bytes(const br_program* program) {
  if (!program) return 0;
  for (uint32_t i = 0; i < program->record_count; ++i)
    if (!can_wait(*program, program->records[i])) return 0;
  uint64_t bytes = 0;
  each_merged(*program, [&](const Record& record) {
    const Merged merged(*program, record);
    uint64_t own = padded_bytes(tensor_of(*program, record, merged.exponents));
    for (int k = 0; k < merged.count; ++k) own += padded_bytes(tensor_of(*program, record, merged.sums[k]));
    bytes = own > bytes ? own : bytes;
  });
  return bytes;
}

int br_parts_begin(const br_program* program, void* arena) {
  if (!program || !arena || !br_parts_bytes(program)) return BR_BAD_ARGUMENT;
  if (reinterpret_cast<uintptr_t>(arena) % 64) return BR_MISALIGNED;
  each_merged(*program, [&](const Record& record) {
    const Merged merged(*program, record);
    const auto place = [&](int role) {
      return static_cast<uint8_t*>(arena) + tensor_of(*program, record, role).info.offset;
    };
    for (int k = 0; k < merged.count; ++k)
      memset(place(merged.sums[k]), 0, size_t(tensor_of(*program, record, merged.sums[k]).bytes(1)));
    int32_t* tops = reinterpret_cast<int32_t*>(place(merged.exponents));
    for (uint64_t k = 0; k < tensor_of(*program, record, merged.exponents).elements; ++k) tops[k] = kNone;
  });
  return BR_OK;
}

int br_parts_measure(const br_program* program, void* parameters, void* arena, const br_run_args* args, void* work) {
  return pass(program, parameters, arena, args, {false, 0, static_cast<uint8_t*>(work)});
}

int br_parts_gather(const br_program* program, void* parameters, void* arena, const br_run_args* args,
                    uint32_t minibatch, void* work) {
  if (minibatch < 1 || minibatch > kLargestMinibatch) return BR_BAD_ARGUMENT;
  return pass(program, parameters, arena, args, {true, bit_length(int64_t(minibatch)), static_cast<uint8_t*>(work)});
}

int br_parts_end(const br_program* program, void* parameters, void* arena, const br_run_args* args) {
  if (!program || !br_parts_bytes(program)) return BR_BAD_ARGUMENT;
  uint8_t* regions[3];
  if (const int error = run_regions(program, parameters, arena, args, kLargestMinibatch, regions)) return error;
  each_merged(*program, [&](const Record& record) {
    const Tensor& exponents = tensor_of(*program, record, Merged(*program, record).exponents);
    int32_t* tops = reinterpret_cast<int32_t*>(static_cast<uint8_t*>(arena) + exponents.info.offset);
    for (uint64_t k = 0; k < exponents.elements; ++k)
      if (tops[k] > kNone) tops[k] = int32_t(tops[k] + bit_length(args->samples));
  });
  Runner runner(*program, regions, *args);
  const int error = runner.run(BR_UPDATE);
  return error ? error : runner.run(BR_PREPARE);
}
