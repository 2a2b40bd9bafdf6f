// The arrays of a replay state, by name, as in state files and hashes (docs/state-format.md).
#pragma once
#include "learner/replay/learner.h"
#include "learner/state/text.h"

namespace bitreplay {

// head.consolidated_weights, head.past, memory.*; the tail's tensors follow.
enum Fixed : uint32_t { kWeights, kPast, kClasses, kCodes, kIds, kOrigins, kSeen, kSizes, kFixed };
constexpr uint16_t kStored = UINT16_MAX;  // in the table of equal arrays: stored itself

struct Array {
  const char *part, *name;  // "head", "past"
  uint32_t dtype, dimensions;
  uint64_t shape[4];
  const uint8_t* data;

  uint64_t elements() const;
  uint64_t bytes() const { return elements() * width(); }
  uint32_t width() const;
  bool same_kind(const Array& other) const;
};

inline uint32_t array_count(const br_replay& l) { return kFixed + l.tensor_count; }
Array array_at(const br_replay& l, uint32_t number);
// Without a class the memory has no codes, origins and ids.
bool is_there(const br_replay& l, uint32_t number);
// For each array the first one that equals it, or kStored: files store equal arrays once.
void find_same(const br_replay& l, uint16_t* same);

void put_name(const Output& out, const Array& array);
void put_description(const Output& out, const Array& array, uint64_t from);  // as a file's header has it
const char* type_in_files(uint32_t dtype);                                   // "I32"
const char* type_in_hashes(uint32_t dtype);                                  // "<i4"

}  // namespace bitreplay
