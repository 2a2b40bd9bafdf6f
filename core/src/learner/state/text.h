// Writes text as Python does: repr for hashes, JSON for state files.
#pragma once
#include <cstddef>
#include <cstdint>

#include "learner/names.h"

namespace bitreplay {

// A destination of bytes. `put` returns nothing: a destination that can fail remembers it in `to`.
struct Output {
  void* to;
  void (*put)(void* to, const void* bytes, size_t size);

  void bytes(const void* from, size_t size) const { put(to, from, size); }
  void text(const char* from) const;
  void number(int64_t value) const;
};

// Escapes what is written to it, which must be printable ASCII, as the inside of a JSON string.
struct Quoted {
  const Output& inner;
  Output out() { return {this, put}; }

 private:
  static void put(void* quoted, const void* bytes, size_t size);
};

void put_repr(const Output& out, const br_name& name);  // Python's repr
void put_json(const Output& out, const br_name& name);  // json.dumps: ASCII

// Whether Python's repr prints a character above 127 unescaped.
bool is_printable(int32_t character);

}  // namespace bitreplay
