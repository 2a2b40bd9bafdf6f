#include "learner/names.h"

#include <cstring>

namespace bitreplay {
namespace {

constexpr int64_t kLargestNumber = (int64_t(1) << 53) - 1;
constexpr int kMaxCharacters = 200;

bool high_surrogate(int32_t c) { return c >= 0xD800 && c < 0xDC00; }
bool low_surrogate(int32_t c) { return c >= 0xDC00 && c < 0xE000; }

}  // namespace

int32_t next_character(const char* text, size_t length, size_t* at) {
  const uint8_t* bytes = reinterpret_cast<const uint8_t*>(text) + *at;
  const size_t left = length - *at;
  const int32_t first = left ? bytes[0] : 0xFF;
  const size_t size = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
  if (size == 0 || size > left) return -1;
  int32_t character = size == 1 ? first : first & (0x7F >> size);
  for (size_t i = 1; i < size; ++i) {
    if ((bytes[i] & 0xC0) != 0x80) return -1;
    character = character << 6 | (bytes[i] & 0x3F);
  }
  if ((size == 3 && character < 0x800) || (size == 4 && (character < 0x10000 || character > 0x10FFFF))) return -1;
  *at += size;
  return character;
}

size_t put_character(int32_t c, char* to) {
  const size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  for (size_t i = size; i-- > 1; c >>= 6) to[i] = char(0x80 | (c & 0x3F));
  to[0] = char(size == 1 ? c : (0xF00 >> size & 0xFF) | c);
  return size;
}

bool is_name(const br_name* name) {
  if (!name) return false;
  if (!name->text) return name->number >= -kLargestNumber && name->number <= kLargestNumber;
  if (name->length < 1 || name->length > kMaxNameBytes) return false;
  size_t at = 0;
  int32_t before = 0;
  for (int characters = 0; at < name->length; ++characters) {
    const int32_t c = next_character(name->text, name->length, &at);
    if (c < 0 || characters == kMaxCharacters || (high_surrogate(before) && low_surrogate(c))) return false;
    before = c;
  }
  return true;
}

bool is_new_name(const br_name* name) {
  if (!is_name(name)) return false;
  for (size_t at = 0; name->text && at < name->length;) {
    const int32_t c = next_character(name->text, name->length, &at);
    if (high_surrogate(c) || low_surrogate(c)) return false;
  }
  return true;
}

int compare(const br_name& a, const br_name& b) {
  if (!a.text || !b.text) {
    if (a.text || b.text) return a.text ? 1 : -1;
    return a.number < b.number ? -1 : a.number > b.number;
  }
  const int order = memcmp(a.text, b.text, a.length < b.length ? a.length : b.length);
  return order ? order : a.length < b.length ? -1 : a.length > b.length;
}

br_name Names::at(uint32_t row) const {
  Head head;
  memcpy(&head, place(row), sizeof head);
  if (!head.is_text) return {nullptr, 0, head.number};
  return {reinterpret_cast<const char*>(place(row) + sizeof head), head.length, 0};
}

uint32_t Names::find(const br_name& name, bool* found) const {
  uint32_t low = 0, end = count_;
  while (low < end) {
    const uint32_t middle = low + (end - low) / 2;
    if (compare(at(middle), name) < 0) low = middle + 1;
    else end = middle;
  }
  *found = low < count_ && compare(at(low), name) == 0;
  return low;
}

void Names::insert(uint32_t row, const br_name& name) {
  memmove(place(row + 1), place(row), (count_ - row) * row_bytes(name_bytes_));
  const Head head = {name.text ? 0 : name.number, uint32_t(name.text ? name.length : 0), name.text != nullptr};
  memcpy(place(row), &head, sizeof head);
  if (name.text) memcpy(place(row) + sizeof head, name.text, name.length);
  ++count_;
}

void Names::erase(uint32_t row) {
  --count_;
  memmove(place(row), place(row + 1), (count_ - row) * row_bytes(name_bytes_));
}

void Names::copy(const Names& other) {
  count_ = other.count_;
  memcpy(memory_, other.memory_, count_ * row_bytes(name_bytes_));
}

}  // namespace bitreplay
