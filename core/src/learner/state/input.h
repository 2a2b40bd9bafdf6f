// Reads a file sequentially through the caller's function.
#pragma once
#include <cstring>

#include "bitreplay_learner.h"

namespace bitreplay {

class Input {
 public:
  static constexpr int kNone = -1;

  Input(br_read* read, void* context, size_t size, size_t at = 0)
      : read_(read), context_(context), size_(size), at_(at) {}

  bool failed() const { return failed_; }  // the caller's function, as opposed to bytes that are not as expected
  size_t at() const { return at_ - (filled_ - used_); }

  int next() {
    if (used_ == filled_ && !fill()) return kNone;
    return piece_[used_++];
  }
  int look() {
    if (used_ == filled_ && !fill()) return kNone;
    return piece_[used_];
  }
  bool bytes(void* to, size_t size) {
    for (uint8_t* target = static_cast<uint8_t*>(to); size;) {
      if (used_ == filled_ && !fill()) return false;
      const size_t some = size < filled_ - used_ ? size : filled_ - used_;
      memcpy(target, piece_ + used_, some);
      used_ += some;
      target += some;
      size -= some;
    }
    return true;
  }
  bool zeros(size_t count) {
    while (count && next() == 0) --count;
    return !count;
  }

 private:
  bool fill() {
    const size_t some = size_ - at_ < sizeof piece_ ? size_ - at_ : sizeof piece_;
    if (failed_ || at_ >= size_) return false;
    failed_ = read_(context_, at_, piece_, some) != 0;
    at_ += some;
    used_ = 0;
    filled_ = failed_ ? 0 : some;
    return !failed_;
  }

  br_read* read_;
  void* context_;
  size_t size_, at_, used_ = 0, filled_ = 0;
  bool failed_ = false;
  uint8_t piece_[512];
};

}  // namespace bitreplay
