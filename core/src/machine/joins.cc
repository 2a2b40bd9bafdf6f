#include "machine/joins.h"

#include "machine/operation.h"

namespace bitreplay {
namespace {

constexpr uint64_t kMostPairs = 1 << 18;  // of records and tensors: every convolution looks at all of them

bool meet(const br_program& program, const Tensor& a, const Tensor& b) {
  return a.info.region == b.info.region && a.info.offset < b.info.offset + b.bytes(program.max_samples) &&
         b.info.offset < a.info.offset + a.bytes(program.max_samples);
}

// How often records refer to a tensor; `written`: only those that write it. Roles are words to be taken apart, so they
// are looked at where the tensor is met.
int uses_of(const br_program& program, int32_t number, bool written) {
  int uses = 0;
  for (uint32_t i = 0; i < program.record_count; ++i) {
    const Record& record = program.records[i];
    for (uint32_t role = 0; role < record.tensor_count; ++role) {
      if (record.tensors[role] != number) continue;
      Role roles[kMaxRoles];
      if (written) roles_of(*record.operation, roles);
      uses += !written || roles[role].written;
    }
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

// Whether the record hands its result to the next one, and nothing that the next one writes is read by it.
bool hands_over(const br_program& program, const Record& first, const Record& second) {
  const int passes = first.operation->passes, takes = second.operation->takes;
  return passes >= 0 && takes >= 0 && first.tensors[passes] == second.tensors[takes] && apart(program, first, second);
}

// Whether every tensor of the record that has no place comes from the one before or goes to the one behind.
bool has_places(const br_program& program, const Record& record, bool from_before, bool to_next) {
  for (int role = 0; role < int(record.tensor_count); ++role) {
    if (record.tensors[role] < 0 || program.tensors[record.tensors[role]].info.region != BR_PASSING) continue;
    if (!(to_next && record.operation->placeless && role == record.operation->passes) &&
        !(from_before && role == record.operation->takes))
      return false;
  }
  return true;
}

bool is_placeless(const br_program& program, const Record& record) {
  const int passes = record.operation->passes;
  return passes >= 0 && program.tensors[record.tensors[passes]].info.region == BR_PASSING;
}

}  // namespace

const char* find_joins(br_program* program) {
  const bool few = uint64_t(program->record_count) * program->tensor_count <= kMostPairs;
  for (uint32_t start = 0, end; start < program->record_count; start = end) {
    const uint32_t chain = program->records[start].chain;
    end = start + (chain ? chain : 1);
    bool from_before = false;
    for (uint32_t i = start; i < end; ++i) {
      Record& record = program->records[i];
      const bool to_next = i + 1 < end && hands_over(*program, record, program->records[i + 1]);
      if (!has_places(*program, record, from_before, to_next))
        return "a tensor without a place does not go straight from one record into the next";
      from_before = to_next && is_placeless(*program, record);
      record.joined = from_before || (to_next && few && is_passing(*program, record.tensors[record.operation->passes]));
    }
  }
  return nullptr;
}

}  // namespace bitreplay
