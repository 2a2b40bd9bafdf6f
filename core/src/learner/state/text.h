// Text that Python writes, into anything that takes bytes: repr for hashes, JSON for state files.
#pragma once
#include <cstddef>
#include <cstdint>

#include "learner/names.h"

namespace bitreplay {

// Where bytes go. `put` says nothing: whoever may fail remembers it in `to`.
struct Output {
  void* to;
  void (*put)(void* to, const void* bytes, size_t size);

  void bytes(const void* from, size_t size) const { put(to, from, size); }
  void text(const char* from) const;
  void number(int64_t value) const;
};

// What is written to it goes to `inner` as the inside of a JSON string: of printable ASCII.
struct Quoted {
  const Output& inner;
  Output out() { return {this, put}; }

 private:
  static void put(void* quoted, const void* bytes, size_t size);
};

void put_repr(const Output& out, const br_name& name);  // Python's repr
void put_json(const Output& out, const br_name& name);  // json.dumps: ASCII

// Whether Python's repr shows a character of 128 or more as it is.
bool is_printable(int32_t character);

}  // namespace bitreplay
