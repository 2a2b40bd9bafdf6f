// JSON as Python writes it, without spaces; also inside a JSON string. Not inlined: it is called from many places and
// seldom, and devices have little flash.
#pragma once
#include "learner/names.h"
#include "learner/state/input.h"

namespace bitreplay {

class Json {
 public:
  explicit Json(const Input& in) : in_(in) {}

  size_t at() const { return in_.at() - (held_ >= 0); }
  bool failed() const { return in_.failed(); }

  int look() {
    if (held_ == kNothing) held_ = raw();
    return held_;
  }
  [[gnu::noinline]] int next() {
    const int c = look();
    held_ = kNothing;
    return c;
  }
  [[gnu::noinline]] bool take(char c) { return look() == c && (next(), true); }
  [[gnu::noinline]] bool word(const char* text) {
    for (; *text; ++text)
      if (!take(*text)) return false;
    return true;
  }
  // What a string holds is read next, up to `leave`.
  bool enter() { return take('"') && (inside_ = true); }
  bool leave() {
    if (look() != Input::kNone) return false;
    held_ = kNothing;
    inside_ = false;
    return take('"');
  }

  [[gnu::noinline]] bool number(int64_t* value, int64_t limit) {
    uint64_t size;
    const bool negative = take('-');
    if (!natural(&size, uint64_t(limit)) || (negative && !size)) return false;
    *value = negative ? -int64_t(size) : int64_t(size);
    return true;
  }
  [[gnu::noinline]] bool natural(uint64_t* value, uint64_t limit) {
    const int first = look();
    int digits = 0;
    *value = 0;
    for (int c = first; c >= '0' && c <= '9'; c = look(), ++digits) {
      const uint64_t digit = uint64_t(next() - '0');
      if ((digits && first == '0') || digit > limit || *value > (limit - digit) / 10) return false;
      *value = 10 * *value + digit;
    }
    return digits > 0;
  }

  // A string, in UTF-8.
  [[gnu::noinline]] bool text(char* to, size_t room, size_t* size) {
    int32_t high = 0;  // the first half of a character that has two
    *size = 0;
    if (!take('"')) return false;
    while (!take('"')) {
      int32_t c = next();
      if (c < 32 || c > 126 || (c == '\\' && !escaped(&c))) return false;
      if (high && c >= 0xDC00 && c < 0xE000) {
        c = 0x10000 + ((high - 0xD800) << 10) + (c - 0xDC00);
        *size -= 3;
      }
      high = c >= 0xD800 && c < 0xDC00 ? c : 0;
      char bytes[4];
      const size_t written = put_character(c, bytes);
      if (*size + written > room) return false;
      memcpy(to + *size, bytes, written);
      *size += written;
    }
    return true;
  }
  // A string with a 0 at its end.
  [[gnu::noinline]] bool key(char* to, size_t room) {
    size_t size;
    if (!text(to, room - 1, &size)) return false;
    to[size] = 0;
    return true;
  }

  // An object: pair(key) reads each value.
  template <class Pair>
  bool object(Pair pair) {
    if (!take('{')) return false;
    for (bool more = false; !take('}'); more = true) {
      char name[64];
      if ((more && !take(',')) || !key(name, sizeof name) || !take(':') || !pair(name)) return false;
    }
    return true;
  }
  template <class Item>
  bool list(Item item) {
    if (!take('[')) return false;
    for (bool more = false; !take(']'); more = true)
      if ((more && !take(',')) || !item()) return false;
    return true;
  }

  static int hex_digit(int c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

 private:
  static constexpr int kNothing = -2;

  int raw() {
    if (!inside_) return in_.next();
    const int c = in_.look();
    if (c == '"' || c == Input::kNone) return Input::kNone;
    in_.next();
    if (c != '\\') return c;
    const int escaped = in_.next();
    return escaped == '"' || escaped == '\\' ? escaped : Input::kNone;
  }

  bool escaped(int32_t* c) {
    static const char from[] = "\"\\nrtfb", to[] = "\"\\\n\r\t\f\b";
    const int escape = next();
    for (int i = 0; from[i]; ++i)
      if (escape == from[i]) return *c = to[i], true;
    *c = 0;
    for (int i = 0; i < 4 && escape == 'u'; ++i) {
      const int digit = hex_digit(next());
      if (digit < 0) return false;
      *c = *c << 4 | digit;
    }
    return escape == 'u';
  }

  Input in_;
  int held_ = kNothing;
  bool inside_ = false;
};

}  // namespace bitreplay
