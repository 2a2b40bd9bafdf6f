// Sections of a state file (docs/state-format.md): written one after the other, and read in the same order. What is
// read has passed all checks of form: the bytes are the only ones that its content can have.
#pragma once
#include "bitreplay_state.h"
#include "learner/model.h"
#include "learner/names.h"
#include "learner/state/file.h"
#include "learner/state/output.h"

namespace bitreplay {

constexpr uint8_t kBegin[16] = {'B', 'I', 'T', 'S', 'T', 'A', 'T', 'E', 3};  // and the version, as uint64
constexpr int kEnd = -1;                                                     // there is no further section

inline uint64_t padded(uint64_t size) { return (size + 7) / 8 * 8; }
// The greatest common divisor; that of 0 and a number is the number.
inline uint64_t greatest_divisor(uint64_t a, uint64_t b) {
  while (a) {
    const uint64_t rest = b % a;
    b = a;
    a = rest;
  }
  return b;
}

// A section of the name `prefix` + `name`; its shape has the first `rank` numbers.
br_section section_of(const char* prefix, const char* name, uint32_t type, uint32_t rank = 0, uint64_t first = 1,
                      uint64_t second = 1);
// Computes `size` from type and shape; false if there is no such section.
bool measure(br_section* section);
// Writes what stands before a section's content, and computes `size`; returns its bytes, 0 if there is no such section.
constexpr size_t kMaxHead = 312;
size_t put_head(br_section* section, uint8_t head[kMaxHead]);

// ---- writing

// A name of a class, or null for a number without one.
void put_name(const Output& out, const br_name* name);

struct SectionOutput {
  const Output out;

  void put(const br_section& section, const void* content);
  void integer(const char* prefix, const char* name, int64_t value);
  void sections(const Section& whole) { out.bytes(whole.bytes, whole.size); }  // as they are
  // The classes of a state; name_of(i) is that of number i, or null.
  template <class NameOf>
  void classes(uint32_t count, NameOf name_of) {
    size_t size = 0;
    for (uint32_t i = 0; i < count; ++i) put_name(to_count(&size), name_of(i));
    begin(section_of("learned/classes", "", BR_SECTION_NAMES, 1, size));
    for (uint32_t i = 0; i < count; ++i) put_name(out, name_of(i));
    pad(size);
  }

 private:
  uint64_t begin(br_section section);  // returns the size of its content
  void pad(uint64_t size);
};

// Writes a file in two passes, the first for its SHA-256; put(out) writes its sections.
template <class Put>
int write_file(br_write* write, void* context, Put put) {
  uint8_t head[BR_STATE_HEAD];
  memcpy(head, kBegin, sizeof kBegin);
  Sha256 digest;
  put(SectionOutput{to_digest(&digest)});
  digest.finish(head + 16);
  BufferedOutput written = {write, context, 0, false, 0, {}};
  written.out().bytes(head, sizeof head);
  put(SectionOutput{written.out()});
  written.flush();
  return written.failed ? BR_STORAGE : BR_OK;
}

template <class Put>
size_t file_bytes(Put put) {
  size_t size = BR_STATE_HEAD;
  put(SectionOutput{to_count(&size)});
  return size;
}

// The state hash: put(out) writes what was learned.
template <class Put>
void hash_of(Put put, char hash[65]) {
  Sha256 digest;
  put(SectionOutput{to_digest(&digest)});
  digest.finish_hex(hash);
  hash[64] = 0;
}

// ---- reading

// The next of `*left` bytes of names; `*is_free` if a number has none. False if they are not names.
bool next_name(Input& in, uint64_t* left, char text[kMaxNameBytes], br_name* name, bool* is_free);

class SectionInput {
 public:
  SectionInput(const File& file, uint64_t at) : file_(file), at_(at) { last_[0] = 0; }

  int next(br_section* section);  // BR_OK, kEnd, BR_MALFORMED, BR_STORAGE
  uint64_t at() const { return at_; }

 private:
  const File file_;
  uint64_t at_;
  char last_[256];
};

// Sections that must be there, in order. After anything else `wrong` says what it is, and all that follows is false.
class ExpectedSections {
 public:
  ExpectedSections(const File& file, uint64_t at) : file_(file), in_(file, at) { advance(); }

  int wrong = BR_OK;
  const br_section& section() const { return next_; }  // which comes next, if there is one
  bool take(const char* prefix, const char* name, uint32_t type, uint32_t rank, br_section* taken);
  bool integer(const char* prefix, const char* name, int64_t limit, int64_t* value);  // from 0 to below the limit
  // Calls each(name, is_free) with the classes; it returns BR_OK to go on.
  template <class Each>
  bool classes(Each each) {
    br_section section;
    if (!take("learned/classes", "", BR_SECTION_NAMES, 1, &section)) return false;
    Input in = file_.in(section.offset);
    for (uint64_t left = section.size; left;) {
      char text[kMaxNameBytes];
      br_name name;
      bool is_free;
      if (!next_name(in, &left, text, &name, &is_free)) return refuse(in.failed() ? BR_STORAGE : BR_MALFORMED);
      if (const int code = each(name, is_free)) return refuse(code);
    }
    return true;
  }
  // Goes on behind all sections whose names begin so.
  bool skip(const char* prefix);
  bool begins(const char* prefix) { return !wrong && ((!is_end_ && is_next(prefix)) || refuse(BR_MALFORMED)); }
  // Reads all sections whose names begin so, at least one, as they are.
  bool sections(const char* prefix, char* to, size_t room, size_t* size);
  bool load(const br_section& section, void* to);
  bool end() { return !wrong && (is_end_ || refuse(BR_MALFORMED)); }
  bool refuse(int code);

 private:
  void advance();
  bool is_next(const char* prefix) const { return !strncmp(next_.name, prefix, strlen(prefix)); }

  const File file_;
  SectionInput in_;
  br_section next_;
  uint64_t begin_ = 0;
  bool is_end_ = false;
};

bool is_format_3(const File& file);
// The SHA-256 of a file of format 3, and its form: BR_OK, BR_DAMAGED, BR_MALFORMED, BR_STORAGE.
int check_sha256(const File& file);
int check_form(const File& file);

// Finds a section among some in memory; its content, or null.
const uint8_t* find_section(const Section& sections, const char* name, br_section* section);

}  // namespace bitreplay
