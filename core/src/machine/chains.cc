#include "machine/chains.h"

#include "machine/operation.h"

namespace bitreplay {
namespace {

constexpr uint32_t kLongestChain = 128;  // comparing grows with its square

struct Use {
  int number;
  bool written, counts;
};

// The tensors of a record; the number of them.
int uses_of(const Record& record, Use uses[kMaxRoles]) {
  Role roles[kMaxRoles];
  const int count = roles_of(*record.operation, roles);
  int use_count = 0;
  for (int role = 0; role < count; ++role)
    if (record.tensors[role] >= 0)
      uses[use_count++] = {record.tensors[role], roles[role].written, role == record.operation->counts};
  return use_count;
}

bool sample_by_sample(const br_program& program, const Record& record) {
  Use uses[kMaxRoles];
  const int count = uses_of(record, uses);
  for (int i = 0; i < count; ++i)
    if (uses[i].written && !uses[i].counts && !program.tensors[uses[i].number].info.per_sample) return false;
  return true;
}

// Does a sample of one touch another sample of the other?
bool overlap(const br_program& program, const Tensor& a, const Tensor& b) {
  if (a.info.per_sample && b.info.per_sample && program.max_samples == 1) return false;
  const bool alike = a.info.per_sample && b.info.per_sample && a.bytes(1) == b.bytes(1);
  if (alike && a.info.offset == b.info.offset) return false;
  return a.info.region == b.info.region && a.info.offset < b.info.offset + b.bytes(program.max_samples) &&
         b.info.offset < a.info.offset + a.bytes(program.max_samples);
}

// Does it matter whether one sample is through both records before another is through the first?
bool disturb(const br_program& program, const Record& earlier, const Record& later) {
  Use first[kMaxRoles], second[kMaxRoles];
  const int first_count = uses_of(earlier, first), second_count = uses_of(later, second);
  for (int i = 0; i < first_count; ++i) {
    for (int j = 0; j < second_count; ++j) {
      const Use &a = first[i], &b = second[j];
      if (!a.written && !b.written) continue;
      if (a.number == b.number) {
        if (!program.tensors[a.number].info.per_sample && !(a.counts && b.counts)) return true;
      } else if (overlap(program, program.tensors[a.number], program.tensors[b.number])) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

void find_chains(br_program* program) {
  for (uint32_t start = 0; start < program->record_count;) {
    Record& first = program->records[start];
    if (!sample_by_sample(*program, first)) {
      ++start;
      continue;
    }
    uint32_t end = start + 1;
    bool scratch = first.packed_weights == PackedIn::scratch;
    for (; end < program->record_count; ++end) {
      if (end - start >= kLongestChain && program->records[end - 1].operation->passes < 0) break;
      const Record& next = program->records[end];
      if (next.list != first.list || !sample_by_sample(*program, next)) break;
      if (scratch && next.packed_weights == PackedIn::scratch) break;  // there is one scratch
      bool disturbed = false;
      for (uint32_t i = start; i < end && !disturbed; ++i) disturbed = disturb(*program, program->records[i], next);
      if (disturbed) break;
      scratch = scratch || next.packed_weights == PackedIn::scratch;
    }
    first.chain = uint16_t(end - start);
    start = end;
  }
}

}  // namespace bitreplay
