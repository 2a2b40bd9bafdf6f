// A file of the caller's, read through a function.
#pragma once
#include "learner/state/input.h"

namespace bitreplay {

struct File {
  br_read* read;
  void* context;
  size_t size;

  Input in(uint64_t offset) const { return Input(read, context, size, size_t(offset)); }
};

// Bytes in memory, read as a file.
struct MemoryFile {
  const uint8_t* bytes;
  size_t size;

  File file() { return {read, this, size}; }

  // The context is a MemoryFile.
  static int read(void* self, size_t offset, void* to, size_t size) {
    const MemoryFile& from = *static_cast<MemoryFile*>(self);
    if (offset > from.size || size > from.size - offset) return 1;
    memcpy(to, from.bytes + offset, size);
    return 0;
  }
};

}  // namespace bitreplay
