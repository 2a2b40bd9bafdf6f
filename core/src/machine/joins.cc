#include "machine/joins.h"

#include "machine/operation.h"

namespace bitreplay {
namespace {

constexpr uint64_t kMostPairs = 1 << 18;  // of records and tensors: every convolution looks at all of them

bool meet(const br_program& program, const Tensor& a, const Tensor& b) {
  return a.info.region == b.info.region && a.info.offset < b.info.offset + b.bytes(program.max_samples) &&
         b.info.offset < a.info.offset + a.bytes(program.max_samples);
}

// How often records refer to a tensor; `written`: only those that write it.
int uses_of(const br_program& program, int32_t number, bool written) {
  int uses = 0;
  for (uint32_t i = 0; i < program.record_count; ++i) {
    Role roles[kMaxRoles];
    const int count = roles_of(*program.records[i].operation, roles);
    for (int role = 0; role < count; ++role)
      uses += program.records[i].tensors[role] == number && (roles[role].written || !written);
  }
  return uses;
}

// Others have its place too, and none of them is the same tensor by another name, which would have all of its place
// and be written under no name of its own.
bool is_passing(const br_program& program, int32_t number) {
  const Tensor& own = program.tensors[number];
  bool shared = false;
  for (int32_t number_of_other = 0; number_of_other < int32_t(program.tensor_count); ++number_of_other) {
    const Tensor& other = program.tensors[number_of_other];
    if (number_of_other == number || !meet(program, own, other)) continue;
    const bool same = other.info.offset == own.info.offset && other.bytes(1) == own.bytes(1);
    const bool written = uses_of(program, number_of_other, true) > 0;
    if (same && !written && uses_of(program, number_of_other, false)) return false;
    shared = shared || !same || written;
  }
  return shared && own.info.region == BR_ARENA && uses_of(program, number, false) == 2;
}

// What the second writes lies apart from what the first reads.
bool apart(const br_program& program, const Record& first, const Record& second) {
  Role reads[kMaxRoles], writes[kMaxRoles];
  const int read_count = roles_of(*first.operation, reads), write_count = roles_of(*second.operation, writes);
  for (int i = 0; i < read_count; ++i) {
    for (int j = 0; j < write_count; ++j) {
      if (!writes[j].written || first.tensors[i] < 0 || second.tensors[j] < 0) continue;
      if (meet(program, program.tensors[first.tensors[i]], program.tensors[second.tensors[j]])) return false;
    }
  }
  return true;
}

}  // namespace

void find_joins(br_program* program) {
  if (uint64_t(program->record_count) * program->tensor_count > kMostPairs) return;
  for (uint32_t start = 0; start < program->record_count;) {
    const uint32_t chain = program->records[start].chain;
    for (uint32_t i = start; i + 1 < start + chain; ++i) {
      Record& first = program->records[i];
      const Record& second = program->records[i + 1];
      const int passes = first.operation->passes, takes = second.operation->takes;
      first.joined = passes >= 0 && takes >= 0 && first.tensors[passes] == second.tensors[takes] &&
                     is_passing(*program, first.tensors[passes]) && apart(*program, first, second);
    }
    start += chain ? chain : 1;
  }
}

}  // namespace bitreplay
