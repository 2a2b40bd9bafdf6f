// Files in linear memory: a JavaScript function is no pointer that C could call.
#include <cstdlib>

#include "learner/state/frame.h"

using namespace bitreplay;

namespace {

int write_bytes(void* context, size_t offset, const void* bytes, size_t size) {
  const MemoryFile* file = static_cast<const MemoryFile*>(context);
  if (offset > file->size || size > file->size - offset) return 1;
  memcpy(const_cast<uint8_t*>(file->bytes) + offset, bytes, size);
  return 0;
}

// The section of this name; it is read into `to`, and its offset in the file, if that is one of format 3, and its size
// into place[2].
int find(const File& file, const char* name, uint8_t* to, size_t room, uint64_t* place) {
  SectionInput in(file, BR_STATE_HEAD);
  br_section section;
  int code;
  while (!(code = in.next(&section)) && strcmp(section.name, name)) continue;
  if (code) return code == kEnd ? BR_NO_STATE : code;
  place[0] = section.offset;
  place[1] = section.size;
  return file.read(file.context, section.offset, to, section.size < room ? section.size : room) ? BR_STORAGE : BR_OK;
}

}  // namespace

extern "C" {

// For functions that read or write a file: their context is its address and its size.
BR_API br_read* br_memory_read(void) { return MemoryFile::read; }
BR_API br_write* br_memory_write(void) { return write_bytes; }

// A section of a state file of any format whose checksum is right, of whichever model: `find`.
BR_API int br_state_section_bytes(uint8_t* from, size_t size, const char* name, uint8_t* to, size_t room,
                                  uint64_t* place) {
  constexpr uint32_t kArrays = 1024;
  constexpr size_t kRoom = size_t(1) << 20;
  BumpAllocator sizes(nullptr);
  OldState(sizes, kArrays, kRoom);
  uint8_t* const memory = static_cast<uint8_t*>(aligned_alloc(64, sizes.used()));
  if (!memory) return BR_NO_MEMORY;
  BumpAllocator allocator(memory);
  OldState old(allocator, kArrays, kRoom);
  MemoryFile bytes = {from, size};
  StateSource source;
  const int wrong = check_sum(bytes.file());
  const int malformed = wrong ? wrong : source.open(bytes.file(), Model(), &old);
  const int code = malformed ? malformed : find(source.sections, name, to, room, place);
  free(memory);
  return code;
}
}
