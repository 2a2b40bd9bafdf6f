#include "learner/state/sections.h"

namespace bitreplay {
namespace {

constexpr uint64_t kMaxLength = INT32_MAX, kMaxBytes = uint64_t(1) << 62;
constexpr uint32_t kWidths[] = {1, 2, 4, 8, 1, 4, 8, 1, 16, 1, 1};  // by type

enum NameTag : uint8_t { kFree, kInteger, kText };

bool is_surrogate(int32_t c) { return c >= 0xD800 && c < 0xE000; }

// Characters of UTF-8; -1 if it is not, or has one below `lowest`.
int64_t characters(const char* text, size_t size, int32_t lowest) {
  int64_t count = 0;
  for (size_t at = 0; at < size; ++count) {
    const int32_t c = next_character(text, size, &at);
    if (c < lowest || c == 127 || is_surrogate(c)) return -1;
  }
  return count;
}

bool is_text(Input& in, uint64_t size) {
  char kept[4];  // of a character that is cut off
  for (uint64_t left = size; left;) {
    size_t have = 0, at = 0;
    while (have < 4 && left && (!have || (in.look() & 0xC0) == 0x80)) kept[have++] = char(in.next()), --left;
    const int32_t c = next_character(kept, have, &at);
    if (c < 0 || at != have || is_surrogate(c)) return false;
  }
  return true;
}

bool is_fraction(Input& in) {
  int64_t value[2];
  if (!in.bytes(value, sizeof value) || value[1] < 1) return false;
  const uint64_t top = value[0] < 0 ? uint64_t(0) - uint64_t(value[0]) : uint64_t(value[0]);
  return greatest_divisor(top, uint64_t(value[1])) == 1;
}

// Whether a section's content can be of its type; `in` stands behind it then.
bool is_content(Input& in, const br_section& section) {
  if (section.type == BR_SECTION_FLAG) return unsigned(in.next()) <= 1;
  if (section.type == BR_SECTION_FRACTION) return is_fraction(in);
  if (section.type == BR_SECTION_TEXT) return is_text(in, section.size);
  for (uint64_t left = section.size; left;) {
    char text[kMaxNameBytes];
    br_name name;
    bool is_free;
    if (!next_name(in, &left, text, &name, &is_free)) return false;
  }
  return true;
}

bool has_shape(const br_section& s) {
  const bool scalar = s.type == BR_SECTION_FLAG || s.type == BR_SECTION_FRACTION;
  return s.type < BR_SECTION_FLAG ? s.rank <= BR_SECTION_RANK : s.rank == (scalar ? 0 : 1);
}

}  // namespace

bool measure(br_section* s) {
  if (s->type > BR_SECTION_NAMES || !has_shape(*s)) return false;
  uint64_t all = kWidths[s->type];  // as if there were no empty dimension
  bool empty = false;
  for (uint32_t axis = 0; axis < s->rank; ++axis) {
    const uint64_t length = s->shape[axis];
    if (length > kMaxLength || (length && all > kMaxBytes / length)) return false;
    empty = empty || !length;
    all *= length ? length : 1;
  }
  s->size = empty ? 0 : all;
  return true;
}

size_t put_head(br_section* s, uint8_t head[kMaxHead]) {
  if (!memchr(s->name, 0, sizeof s->name) || !measure(s)) return 0;
  const size_t length = strlen(s->name), named = size_t(padded(4 + length));
  if (!length || characters(s->name, length, 32) < 0) return 0;
  memset(head, 0, named);
  head[0] = uint8_t(s->type);
  head[1] = uint8_t(s->rank);
  head[2] = uint8_t(length);
  head[3] = uint8_t(length >> 8);
  memcpy(head + 4, s->name, length);
  memcpy(head + named, s->shape, 8 * s->rank);
  return named + 8 * s->rank;
}

br_section section_of(const char* prefix, const char* name, uint32_t type, uint32_t rank, uint64_t first,
                      uint64_t second) {
  br_section s = {};
  for (uint64_t& length : s.shape) length = 1;
  s.shape[0] = first;
  s.shape[1] = second;
  s.type = type;
  s.rank = rank;
  size_t at = 0;
  while (*prefix && at + 1 < sizeof s.name) s.name[at++] = *prefix++;
  while (*name && at + 1 < sizeof s.name) s.name[at++] = *name++;
  return s;
}

// ---- writing

void put_name(const Output& out, const br_name* name) {
  const uint8_t tag = !name ? kFree : name->text ? kText : kInteger;
  out.bytes(&tag, 1);
  if (tag == kInteger) out.bytes(&name->number, 8);
  if (tag != kText) return;
  const uint16_t length = uint16_t(name->length);
  out.bytes(&length, 2);
  out.bytes(name->text, name->length);
}

uint64_t SectionOutput::begin(br_section section) {
  uint8_t head[kMaxHead];
  out.bytes(head, put_head(&section, head));
  return section.size;
}

void SectionOutput::pad(uint64_t size) {
  const uint8_t zeros[8] = {};
  out.bytes(zeros, size_t(padded(size) - size));
}

void SectionOutput::put(const br_section& section, const void* content) {
  const uint64_t size = begin(section);
  out.bytes(content, size_t(size));
  pad(size);
}

void SectionOutput::integer(const char* prefix, const char* name, int64_t value) {
  put(section_of(prefix, name, BR_SECTION_INT64), &value);
}

// ---- reading

bool next_name(Input& in, uint64_t* left, char text[kMaxNameBytes], br_name* name, bool* is_free) {
  const int tag = in.next();
  *name = {nullptr, 0, 0};
  *is_free = tag == kFree;
  uint64_t size = 1;
  if (tag == kInteger) {
    size += 8;
    if (size > *left || !in.bytes(&name->number, 8)) return false;
  } else if (tag == kText) {
    uint16_t length;
    size += 2;
    if (size > *left || !in.bytes(&length, 2) || !length || length > kMaxNameBytes) return false;
    size += length;
    if (size > *left || !in.bytes(text, length)) return false;
    *name = {text, length, 0};
  } else if (tag != kFree) {
    return false;
  }
  *left -= size;
  return *is_free || is_name(name);
}

int SectionInput::next(br_section* s) {
  if (at_ == file_.size) return kEnd;
  Input in = file_.in(at_);
  const auto wrong = [&] { return in.failed() ? BR_STORAGE : BR_MALFORMED; };
  uint8_t fixed[4];
  *s = section_of("", "", 0);
  if (!in.bytes(fixed, sizeof fixed)) return wrong();
  s->type = fixed[0];
  s->rank = fixed[1];
  const size_t length = fixed[2] | fixed[3] << 8;
  if (!length || length >= sizeof s->name || !in.bytes(s->name, length)) return wrong();
  if (characters(s->name, length, 32) < 0 || strcmp(s->name, last_) <= 0) return wrong();
  if (!in.zeros(size_t(padded(4 + length) - 4 - length)) || s->rank > BR_SECTION_RANK) return wrong();
  if (!in.bytes(s->shape, 8 * s->rank) || !measure(s)) return wrong();
  s->offset = in.at();
  if (s->size > file_.size - s->offset || padded(s->size) > file_.size - s->offset) return BR_MALFORMED;
  if (s->type >= BR_SECTION_FLAG && !is_content(in, *s)) return wrong();
  Input behind = file_.in(s->offset + s->size);
  if (!behind.zeros(size_t(padded(s->size) - s->size))) return behind.failed() ? BR_STORAGE : BR_MALFORMED;
  at_ = s->offset + padded(s->size);
  memcpy(last_, s->name, sizeof last_);
  return BR_OK;
}

void ExpectedSections::advance() {
  if (wrong) return;
  begin_ = in_.at();
  const int code = in_.next(&next_);
  is_end_ = code == kEnd;
  if (code != kEnd) wrong = code;
}

bool ExpectedSections::refuse(int code) {
  if (!wrong) wrong = code;
  return false;
}

bool ExpectedSections::take(const char* prefix, const char* name, uint32_t type, uint32_t rank, br_section* taken) {
  const br_section expected = section_of(prefix, name, type, rank);
  if (wrong) return false;
  if (is_end_ || strcmp(next_.name, expected.name) || next_.type != type || next_.rank != rank)
    return refuse(BR_MALFORMED);
  *taken = next_;
  advance();
  return !wrong;
}

bool ExpectedSections::load(const br_section& section, void* to) {
  if (section.size && !wrong && file_.read(file_.context, size_t(section.offset), to, size_t(section.size)))
    return refuse(BR_STORAGE);
  return !wrong;
}

bool ExpectedSections::integer(const char* prefix, const char* name, int64_t limit, int64_t* value) {
  br_section section;
  *value = 0;
  if (!take(prefix, name, BR_SECTION_INT64, 0, &section) || !load(section, value)) return false;
  return (*value >= 0 && *value < limit) || refuse(BR_MALFORMED);
}

bool ExpectedSections::skip(const char* prefix) {
  while (!wrong && !is_end_ && is_next(prefix)) advance();
  return !wrong;
}

bool ExpectedSections::sections(const char* prefix, char* to, size_t room, size_t* size) {
  const uint64_t begin = begin_;
  if (!skip(prefix)) return false;
  const uint64_t end = is_end_ ? in_.at() : begin_;
  if (end == begin) return refuse(BR_MALFORMED);
  if (end - begin > room) return refuse(BR_FULL);
  *size = size_t(end - begin);
  return file_.read(file_.context, size_t(begin), to, *size) ? refuse(BR_STORAGE) : true;
}

bool is_format_3(const File& file) {
  char magic[8];
  return file.size >= sizeof magic && file.in(0).bytes(magic, sizeof magic) && !memcmp(magic, "BITSTATE", 8);
}

int check_sha256(const File& file) {
  uint8_t head[BR_STATE_HEAD], piece[256], digest[32];
  if (file.size < sizeof head) return BR_DAMAGED;
  Input in = file.in(0);
  if (!in.bytes(head, sizeof head)) return BR_STORAGE;
  Sha256 sha;
  for (size_t at = sizeof head; at < file.size;) {
    const size_t some = file.size - at < sizeof piece ? file.size - at : sizeof piece;
    if (!in.bytes(piece, some)) return BR_STORAGE;
    sha.update(piece, some);
    at += some;
  }
  sha.finish(digest);
  if (memcmp(digest, head + 16, sizeof digest)) return BR_DAMAGED;
  return memcmp(head, kBegin, sizeof kBegin) ? BR_MALFORMED : BR_OK;
}

int check_form(const File& file) {
  if (const int wrong = check_sha256(file)) return wrong;
  SectionInput sections(file, BR_STATE_HEAD);
  br_section section;
  int code;
  while ((code = sections.next(&section)) == BR_OK) {}
  return code == kEnd ? BR_OK : code;
}

const uint8_t* find_section(const Section& sections, const char* name, br_section* section) {
  MemoryFile memory = {reinterpret_cast<const uint8_t*>(sections.bytes), sections.size};
  SectionInput in(memory.file(), 0);
  while (in.next(section) == BR_OK)
    if (!strcmp(section->name, name)) return memory.bytes + section->offset;
  return nullptr;
}

}  // namespace bitreplay

using namespace bitreplay;

int br_state_lay_out(br_section* sections, uint32_t count, uint64_t offset, uint8_t* heads, uint64_t* ends) {
  if (!sections || !heads || !ends || offset % 8) return BR_BAD_ARGUMENT;
  ends[count] = 0;
  for (uint32_t k = 0; k < count; ++k) {
    br_section& section = sections[k];
    const size_t head = put_head(&section, heads + ends[count]);
    if (!head || (k && strcmp(sections[k - 1].name, section.name) >= 0)) return BR_MALFORMED;
    const size_t zeros = size_t(padded(section.size) - section.size);
    ends[k] = ends[count] + head;
    memset(heads + ends[k], 0, zeros);
    ends[count] = ends[k] + zeros;
    section.offset = offset + head;
    offset = section.offset + section.size + zeros;
  }
  return BR_OK;
}

int br_state_sections(const void* bytes, size_t size, br_section* sections, uint32_t room, uint32_t* count) {
  if (!bytes || !count || (room && !sections)) return BR_BAD_ARGUMENT;
  *count = 0;
  if (size < BR_STATE_HEAD || memcmp(bytes, kBegin, sizeof kBegin)) return BR_MALFORMED;
  MemoryFile memory = {static_cast<const uint8_t*>(bytes), size};
  SectionInput in(memory.file(), BR_STATE_HEAD);
  br_section section;
  int code;
  for (; (code = in.next(&section)) == BR_OK; ++*count)
    if (*count < room) sections[*count] = section;
  return code == kEnd ? BR_OK : code;
}
