// Destinations of the bytes of a state: a digest, a count, the caller's function.
#pragma once
#include <cstring>

#include "bitreplay_learner.h"
#include "learner/state/sha256.h"

namespace bitreplay {

// `put` returns nothing: a destination that can fail remembers it in `to`.
struct Output {
  void* to;
  void (*put)(void* to, const void* bytes, size_t size);

  void bytes(const void* from, size_t size) const { put(to, from, size); }
};

inline Output to_digest(Sha256* digest) {
  return {digest, [](void* to, const void* bytes, size_t size) { static_cast<Sha256*>(to)->update(bytes, size); }};
}

inline Output to_count(size_t* count) {
  return {count, [](void* to, const void*, size_t size) { *static_cast<size_t*>(to) += size; }};
}

// Calls the caller's function with larger pieces, since many of ours are short.
struct BufferedOutput {
  br_write* write;
  void* context;
  size_t offset;
  bool failed;
  size_t used;
  uint8_t piece[256];

  void flush() {
    if (used && !failed) failed = write(context, offset, piece, used) != 0;
    offset += used;
    used = 0;
  }
  void take(const uint8_t* bytes, size_t size) {
    while (size && !failed) {
      if (!used && size >= sizeof piece) {
        failed = write(context, offset, bytes, size) != 0;
        offset += size;
        return;
      }
      const size_t some = size < sizeof piece - used ? size : sizeof piece - used;
      memcpy(piece + used, bytes, some);
      used += some;
      bytes += some;
      size -= some;
      if (used == sizeof piece) flush();
    }
  }
  Output out() {
    return {this, [](void* to, const void* bytes, size_t size) {
              static_cast<BufferedOutput*>(to)->take(static_cast<const uint8_t*>(bytes), size);
            }};
  }
};

}  // namespace bitreplay
