#include "learner/exact/lineage.h"

#include <cstring>

#include "learner/state/sha256.h"

namespace bitreplay {
namespace {

constexpr uint32_t kMaxOwn = 1 << 10, kMaxMerged = 1 << 16, kDigits = 16;

void digits_of(uint64_t mark, char digits[kDigits]) {
  for (uint32_t i = 0; i < kDigits; ++i) digits[i] = "0123456789abcdef"[mark >> (60 - 4 * i) & 15];
}

}  // namespace

void Lineage::learned(const uint8_t experience[32]) {
  if (own_ >= kMaxOwn || merged_ + own_ >= room_) return;
  char digits[kDigits];
  Sha256 digest;
  for (uint32_t i = own_ ? merged_ + own_ - 1 : 0; i < merged_ + own_; ++i) {
    digits_of(marks_[i], digits);
    digest.update(digits, kDigits);
  }
  digest.update(" ", 1);
  digest.update(experience, 32);
  uint8_t hash[32];
  digest.finish(hash);
  uint64_t mark = 0;
  for (int i = 0; i < 8; ++i) mark = mark << 8 | hash[i];
  marks_[merged_ + own_++] = mark;
}

void Lineage::put(const Output& out) const {
  char digits[kDigits];
  for (uint32_t i = 0; i <= merged_ + own_; ++i) {
    if (i == merged_) out.text("/");
    if (i == merged_ + own_) break;
    digits_of(marks_[i], digits);
    out.bytes(digits, kDigits);
  }
}

bool Lineage::add_merged(uint64_t mark) {
  if (own_ || merged_ >= kMaxMerged || merged_ >= room_ || (merged_ && mark <= marks_[merged_ - 1])) return false;
  marks_[merged_++] = mark;
  return true;
}

bool Lineage::add_own(uint64_t mark) {
  if (own_ >= kMaxOwn || merged_ + own_ >= room_) return false;
  marks_[merged_ + own_++] = mark;
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
