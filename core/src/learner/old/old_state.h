// Files of formats 1 and 2, read as if they were of format 3 (docs/old-state-formats.md): names, counters and settings
// are made anew in the caller's memory, arrays are read from where they lie. Nothing else knows of these formats.
#pragma once
#include "learner/state/sections.h"
#include "sums/bump_allocator.h"

namespace bitreplay {

// The checksum of such a file: BR_OK, BR_DAMAGED, BR_STORAGE.
int check_old_sum(const File& file);

class OldState {
 public:
  OldState() = default;
  // With room for so many arrays, and so many bytes of names, marks and settings.
  OldState(BumpAllocator& allocator, uint32_t arrays, size_t bytes);

  // Parses a file, whose content `file()` has then. BR_DAMAGED, BR_MALFORMED, BR_FULL, BR_STORAGE.
  int open(const File& old, const Model& model);
  File file() { return {read, this, size_t(end_)}; }
  // Where the array whose content is at this offset of `file()` lies in the old one.
  uint64_t locate(uint64_t offset) const;

 private:
  struct Array {
    char name[64], same[64];  // the second: of an equal array that is stored in its place, or empty
    uint64_t shape[4], offset;
    uint32_t type, rank;
    bool is_described;
  };
  // A section: its head in memory, its content in memory or in the old file.
  struct Piece {
    const uint8_t *head, *content;
    uint64_t at, offset, size;
    uint32_t head_size;
  };
  struct Parsed;

  static int read(void* self, size_t offset, void* to, size_t size);
  bool parse(Parsed* parsed);
  bool learned(Parsed* parsed);
  bool settings(Parsed* parsed);
  bool describe(Parsed* parsed, const char* name);
  bool arrange();
  void write(const Parsed& parsed, const Model& model);

  Array* array(const char* name);  // null: there is no room
  bool keep(const void* bytes, size_t size, Section* kept);
  void put(const br_section& section, const void* content, uint64_t offset = 0);
  void put_integer(const char* prefix, const char* name, int64_t value);
  void put_text(const char* prefix, const char* name, const Section& text);

  File old_ = {};
  Array* arrays_ = nullptr;
  Piece* pieces_ = nullptr;
  uint8_t* bytes_ = nullptr;
  uint32_t array_room_ = 0, array_count_ = 0, piece_count_ = 0;
  size_t room_ = 0, used_ = 0;
  uint64_t end_ = 0;
  bool is_full_ = false;
};

}  // namespace bitreplay
