// What a state has learned and merged: parts/lineage.py.
#pragma once
#include <cstddef>
#include <cstdint>

namespace bitreplay {

class Lineage {
 public:
  Lineage() = default;
  Lineage(uint64_t* memory, uint32_t room) : marks_(memory), room_(room) {}

  void clear() { merged_ = own_ = 0; }
  // Adds the mark of an experience with this digest, if there is room.
  void learned(const uint8_t experience[32]);
  const uint64_t* merged() const { return marks_; }  // ascending
  const uint64_t* own() const { return marks_ + merged_; }
  uint32_t merged_count() const { return merged_; }
  uint32_t own_count() const { return own_; }
  // Where so many marks are to be read to; null if there is no room. `is_valid` looks at them then.
  uint64_t* reserve(uint64_t merged, uint64_t own);
  bool is_valid() const;
  bool can_unite(const Lineage& other) const { return merged_ + own_ + other.merged_ + other.own_ <= room_; }
  void unite(const Lineage& other);  // all marks of both, as merged ones
  void leave_out(const Lineage& gone,
                 const Lineage& base);  // what is in the first and not in the second; all merged then
  void copy(const Lineage& other);

 private:
  bool has(uint64_t mark) const;

  uint64_t* marks_ = nullptr;  // merged ones, then own ones
  uint32_t room_ = 0, merged_ = 0, own_ = 0;
};

}  // namespace bitreplay
