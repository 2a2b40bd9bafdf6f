#include "learner/state/text.h"

#include <cstring>

namespace bitreplay {
namespace {

void put_hex(const Output& out, const char* begin, uint32_t value, int digits) {
  char escape[12];
  size_t size = strlen(begin);
  memcpy(escape, begin, size);
  while (digits-- > 0) escape[size++] = "0123456789abcdef"[value >> 4 * digits & 15];
  out.bytes(escape, size);
}

// What follows the backslash where JSON has a short form; 0 where it has none.
char short_escape(int32_t c) {
  switch (c) {
    case '"': return '"';
    case '\\': return '\\';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    case '\f': return 'f';
    case '\b': return 'b';
    default: return 0;
  }
}

}  // namespace

void Output::text(const char* from) const { bytes(from, strlen(from)); }

void Output::number(int64_t value) const {
  char digits[20];
  size_t at = sizeof digits;
  uint64_t left = value < 0 ? uint64_t(0) - uint64_t(value) : uint64_t(value);
  do digits[--at] = char('0' + left % 10);
  while (left /= 10);
  if (value < 0) text("-");
  bytes(digits + at, sizeof digits - at);
}

void Quoted::put(void* quoted, const void* bytes, size_t size) {
  const Output& inner = static_cast<Quoted*>(quoted)->inner;
  const char* from = static_cast<const char*>(bytes);
  for (size_t start = 0, at = 0; at <= size; ++at) {
    const bool special = at < size && (from[at] == '"' || from[at] == '\\');
    if (!special && at < size) continue;
    inner.bytes(from + start, at - start);
    if (special) inner.bytes("\\", 1);
    start = at;
  }
}

void put_repr(const Output& out, const br_name& name) {
  if (!name.text) return out.number(name.number);
  const bool twice = memchr(name.text, '\'', name.length) && !memchr(name.text, '"', name.length);
  const char quote = twice ? '"' : '\'';
  out.bytes(&quote, 1);
  for (size_t at = 0; at < name.length;) {
    const size_t start = at;
    const int32_t c = next_character(name.text, name.length, &at);
    if (c == quote || c == '\\') out.bytes("\\", 1);
    if (c == '\n') out.text("\\n");
    else if (c == '\r') out.text("\\r");
    else if (c == '\t') out.text("\\t");
    else if (c < 32 || c == 127 || (c < 256 && c > 127 && !is_printable(c))) put_hex(out, "\\x", uint32_t(c), 2);
    else if (c < 127 || is_printable(c)) out.bytes(name.text + start, at - start);
    else if (c < 0x10000) put_hex(out, "\\u", uint32_t(c), 4);
    else put_hex(out, "\\U", uint32_t(c), 8);
  }
  out.bytes(&quote, 1);
}

void put_json(const Output& out, const br_name& name) {
  if (!name.text) return out.number(name.number);
  out.text("\"");
  for (size_t at = 0; at < name.length;) {
    const int32_t c = next_character(name.text, name.length, &at);
    const char plain = char(c), escaped[2] = {'\\', short_escape(c)};
    if (escaped[1]) {
      out.bytes(escaped, 2);
    } else if (c >= 32 && c < 127) {
      out.bytes(&plain, 1);
    } else if (c < 0x10000) {
      put_hex(out, "\\u", uint32_t(c), 4);
    } else {
      put_hex(out, "\\u", uint32_t(0xD800 + ((c - 0x10000) >> 10)), 4);
      put_hex(out, "\\u", uint32_t(0xDC00 + ((c - 0x10000) & 0x3FF)), 4);
    }
  }
  out.text("\"");
}

}  // namespace bitreplay
