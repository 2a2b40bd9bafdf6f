// What a state has learned and merged: the twin of parts/lineage.py. Marks are 8 bytes, or 16 digits as text.
#pragma once
#include <cstddef>
#include <cstdint>

#include "learner/state/text.h"

namespace bitreplay {

class Lineage {
 public:
  Lineage() = default;
  Lineage(uint64_t* memory, uint32_t room) : marks_(memory), room_(room) {}

  void clear() { merged_ = own_ = 0; }
  // Adds the mark of an experience with this digest, if there is room.
  void learned(const uint8_t experience[32]);
  void put(const Output& out) const;  // as files keep it: merged, "/", own
  // Marks as they are read: ascending ones of merged states, then own ones. False if there is no room or they are out
  // of order.
  bool add_merged(uint64_t mark);
  bool add_own(uint64_t mark);
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
