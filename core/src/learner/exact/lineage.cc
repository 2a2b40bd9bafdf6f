#include "learner/exact/lineage.h"

#include <cstring>

#include "bitreplay_state.h"

namespace bitreplay {
namespace {

constexpr uint32_t kMaxOwn = 1 << 10, kMaxMerged = 1 << 16;

}  // namespace

void Lineage::learned(const uint8_t experience[32]) {
  if (own_ >= kMaxOwn || merged_ + own_ >= room_) return;
  const uint32_t first = own_ ? merged_ + own_ - 1 : 0, end = merged_ + own_++;
  marks_[end] = br_mark(marks_ + first, (end - first) * sizeof *marks_, experience, 32);
}

uint64_t* Lineage::reserve(uint64_t merged, uint64_t own) {
  if (merged > kMaxMerged || own > kMaxOwn || merged + own > room_) return nullptr;
  merged_ = uint32_t(merged);
  own_ = uint32_t(own);
  return marks_;
}

bool Lineage::is_valid() const {
  for (uint32_t i = 1; i < merged_; ++i)
    if (marks_[i] <= marks_[i - 1]) return false;
  return true;
}

// Insertion, since the marks of devices are few and mostly in order.
void Lineage::unite(const Lineage& other) {
  const uint32_t mine = own_, theirs = other.merged_ + other.own_, start = merged_;
  own_ = 0;
  for (uint32_t i = 0; i < mine + theirs; ++i) {
    const uint64_t mark = i < mine ? marks_[start + i] : other.marks_[i - mine];
    uint32_t at = merged_;
    while (at && marks_[at - 1] >= mark) --at;
    if (at < merged_ && marks_[at] == mark) continue;
    memmove(marks_ + at + 1, marks_ + at, (merged_ - at) * sizeof *marks_);
    marks_[at] = mark;
    ++merged_;
  }
  if (merged_ > kMaxMerged) merged_ = kMaxMerged;
}

bool Lineage::has(uint64_t mark) const {
  for (uint32_t i = 0; i < merged_ + own_; ++i)
    if (marks_[i] == mark) return true;
  return false;
}

void Lineage::leave_out(const Lineage& gone, const Lineage& base) {
  unite(Lineage());
  uint32_t remaining = 0;
  for (uint32_t i = 0; i < merged_; ++i)
    if (!gone.has(marks_[i]) || base.has(marks_[i])) marks_[remaining++] = marks_[i];
  merged_ = remaining;
}

void Lineage::copy(const Lineage& other) {
  merged_ = other.merged_;
  own_ = other.own_;
  memcpy(marks_, other.marks_, (merged_ + own_) * sizeof *marks_);
}

}  // namespace bitreplay
