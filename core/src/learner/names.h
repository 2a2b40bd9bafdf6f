// Names of classes: an integer, or text in UTF-8. Which names are valid, their order, and a table of them.
#pragma once
#include <cstddef>
#include <cstdint>

#include "bitreplay_learner.h"

namespace bitreplay {

constexpr size_t kMaxNameBytes = 800;  // 200 characters of 4 bytes

// Returns the next character and moves `at` behind it; -1 if the bytes are invalid. Single surrogates are valid, since
// Python's text may contain them.
int32_t next_character(const char* text, size_t length, size_t* at);
// Writes a character and returns its number of bytes (at most 4).
size_t put_character(int32_t character, char* to);

// Whether a state may contain this name. New names must not contain single surrogates: classes.py.
bool is_name(const br_name* name);
bool is_new_name(const br_name* name);
// Negative, 0 or positive: integers before texts, both ascending, texts by their characters.
int compare(const br_name& a, const br_name& b);

// A table of names in the caller's memory, one row per name.
class Names {
 public:
  static size_t row_bytes(size_t name_bytes) { return (sizeof(Head) + name_bytes + 7) / 8 * 8; }

  Names() = default;
  Names(uint8_t* memory, size_t name_bytes) : memory_(memory), name_bytes_(name_bytes) {}
  size_t name_bytes() const { return name_bytes_; }
  uint32_t count() const { return count_; }
  bool fits(const br_name& name) const { return !name.text || name.length <= name_bytes_; }
  br_name at(uint32_t row) const;
  // The row of a name if `found`, else the row where it belongs.
  uint32_t find(const br_name& name, bool* found) const;
  void insert(uint32_t row, const br_name& name);  // which points outside of this table
  void erase(uint32_t row);
  void clear() { count_ = 0; }
  void append(const br_name& name) { insert(count_, name); }
  void copy(const Names& other);  // of the same row size

 private:
  struct Head {
    int64_t number;
    uint32_t length, is_text;
  };
  uint8_t* place(uint32_t row) const { return memory_ + row * row_bytes(name_bytes_); }

  uint8_t* memory_ = nullptr;
  size_t name_bytes_ = 0;
  uint32_t count_ = 0;
};

}  // namespace bitreplay
