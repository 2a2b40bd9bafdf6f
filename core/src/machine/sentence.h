// Formats an error message: devices have no stdio.
#pragma once
#include <cstdarg>
#include <cstddef>
#include <cstdint>

namespace bitreplay {

// As vsnprintf, for %u, %zu, %llu, %s and %.*s alone; size > 0. What has no room is left out.
inline void put_sentence(char* to, size_t size, const char* format, va_list list) {
  size_t used = 0;
  const auto put = [&](char c) {
    if (used + 1 < size) to[used++] = c;
  };
  const auto put_number = [&](unsigned long long value) {
    char digits[20];
    int count = 0;
    do digits[count++] = char('0' + value % 10);
    while (value /= 10);
    while (count) put(digits[--count]);
  };
  for (; *format; ++format) {
    if (*format != '%') {
      put(*format);
      continue;
    }
    ++format;
    if (*format == 'u') {
      put_number(va_arg(list, unsigned));
    } else if (*format == 'z') {
      put_number(va_arg(list, size_t));
      ++format;
    } else if (*format == 'l') {
      put_number(va_arg(list, unsigned long long));
      format += 2;
    } else {
      size_t limit = SIZE_MAX;
      if (*format == '.') {
        limit = size_t(va_arg(list, int));
        format += 2;
      }
      const char* text = va_arg(list, const char*);
      for (text = text ? text : "(null)"; *text && limit; ++text, --limit) put(*text);
    }
  }
  to[used] = 0;
}

}  // namespace bitreplay
