// JSON as Python writes it, inside a JSON string: integers and names of classes.
#pragma once
#include "learner/names.h"
#include "learner/state/input.h"

namespace bitreplay {

inline int hex_digit(int c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

struct JsonInput {
  Input& in;

  bool number(int64_t* value, int64_t limit) {
    const bool negative = in.look() == '-';
    if (negative) in.next();
    const int first = in.look();
    *value = 0;
    int digits = 0;
    for (int c = first; c >= '0' && c <= '9'; c = in.look(), ++digits) {
      if (digits && first == '0') return false;
      if (*value > (limit - (c - '0')) / 10) return false;
      *value = 10 * *value + (c - '0');
      in.next();
    }
    if (negative && (!*value || !digits)) return false;
    if (negative) *value = -*value;
    return digits > 0;
  }

  // A JSON string inside a JSON string.
  bool name(char text[kMaxNameBytes], br_name* name) {
    size_t size = 0;
    int32_t high = 0;  // the first half of a character that has two
    if (in.next_quoted() != '"') return false;
    for (;;) {
      int32_t c = in.next_quoted();
      if (c == '"') break;
      if (c < 32 || c > 126) return false;
      if (c == '\\' && !escaped(&c)) return false;
      if (high && c >= 0xDC00 && c < 0xE000) {
        c = 0x10000 + ((high - 0xD800) << 10) + (c - 0xDC00);
        size -= 3;
      }
      high = c >= 0xD800 && c < 0xDC00 ? c : 0;
      char bytes[4];
      const size_t written = put_character(c, bytes);
      if (size + written > kMaxNameBytes) return false;
      memcpy(text + size, bytes, written);
      size += written;
    }
    *name = {text, size, 0};
    return true;
  }

 private:
  bool escaped(int32_t* c) {
    switch (in.next_quoted()) {
      case '"': *c = '"'; return true;
      case '\\': *c = '\\'; return true;
      case 'n': *c = '\n'; return true;
      case 'r': *c = '\r'; return true;
      case 't': *c = '\t'; return true;
      case 'f': *c = '\f'; return true;
      case 'b': *c = '\b'; return true;
      case 'u': break;
      default: return false;
    }
    *c = 0;
    for (int i = 0; i < 4; ++i) {
      const int digit = hex_digit(in.next_quoted());
      if (digit < 0) return false;
      *c = *c << 4 | digit;
    }
    return true;
  }
};

}  // namespace bitreplay
