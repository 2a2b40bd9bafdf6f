// Names of classes by number, as in classes.py: a new name gets the lowest free number.
#pragma once
#include "learner/names.h"

namespace bitreplay {

class ClassNumbers {
 public:
  ClassNumbers() = default;
  ClassNumbers(const Names& rows, uint8_t* used) : rows_(rows), used_(used) {}

  uint32_t end() const { return rows_.count(); }  // one more than the highest number in use
  bool has(uint32_t number) const { return number < end() && used_[number]; }
  br_name at(uint32_t number) const { return rows_.at(number); }
  bool fits(const br_name& name) const { return rows_.fits(name); }
  uint32_t known() const {
    uint32_t count = 0;
    for (uint32_t number = 0; number < end(); ++number) count += used_[number];
    return count;
  }
  // Writes the number of a name; false if it has none.
  bool find(const br_name& name, uint32_t* number) const {
    for (uint32_t each = 0; each < end(); ++each) {
      if (!used_[each] || compare(rows_.at(each), name)) continue;
      *number = each;
      return true;
    }
    return false;
  }
  uint32_t add(const br_name& name) {
    uint32_t number = 0;
    while (number < end() && used_[number]) ++number;
    if (number < end()) rows_.erase(number);
    rows_.insert(number, name);
    used_[number] = 1;
    return number;
  }
  void rename(uint32_t number, const br_name& name) {
    rows_.erase(number);
    rows_.insert(number, name);
  }
  void free(uint32_t number) {
    rename(number, {nullptr, 0, 0});
    used_[number] = 0;
  }
  void append(const br_name* name) {  // null: a free number
    rows_.append(name ? *name : br_name{nullptr, 0, 0});
    used_[end() - 1] = name != nullptr;
  }
  void clear() { rows_.clear(); }
  void copy(const ClassNumbers& other) {
    rows_.copy(other.rows_);
    for (uint32_t number = 0; number < end(); ++number) used_[number] = other.used_[number];
  }

 private:
  Names rows_;
  uint8_t* used_ = nullptr;  // [room]
};

}  // namespace bitreplay
