// Hostile inputs for the learners in C: bytes that are changed and get checksums that fit, so that what lies behind
// them is reached; storage that fails; names of every kind.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "bitreplay_learner.h"
#include "bitreplay_state.h"
#include "learner/state/sha256.h"
#include "machine/crc32.h"

namespace hostile {

constexpr size_t kMaxBytes = 1 << 22, kPlace = 1 << 16, kDigitsAt = 8 + 27;

inline uint64_t random_state;
inline uint32_t draw(uint32_t below) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return uint32_t((random_state >> 33) % below);
}

struct Bytes {
  uint8_t* at;
  size_t size;
};

inline Bytes room(size_t size) {
  void* memory;
  if (posix_memalign(&memory, 64, size ? size : 1)) exit(2);
  return {static_cast<uint8_t*>(memory), size};
}

inline Bytes read_file(const char* path) {
  Bytes content = room(kMaxBytes);
  FILE* file = fopen(path, "rb");
  if (!file) exit(2);
  content.size = fread(content.at, 1, kMaxBytes, file);
  fclose(file);
  return content;
}

// A copy of its own size, so that a byte behind the end is seen.
inline Bytes copy(const Bytes& from) {
  Bytes made = room(from.size);
  memcpy(made.at, from.at, from.size);
  return made;
}

inline void spoil(Bytes& bytes, size_t limit) {
  static const uint8_t likely[] = {0, 1, 255, 127, 128, '0', '9', '"', '\\', '{', '}', '[', ']', ',', '/', 'f'};
  for (uint32_t times = 1 + draw(4); times; --times) {
    const size_t at = draw(uint32_t(limit < bytes.size ? limit : bytes.size));
    bytes.at[at] = draw(2) ? likely[draw(sizeof likely)] : uint8_t(bytes.at[at] ^ 1u << draw(8));
  }
  if (draw(8) == 0) bytes.size = draw(uint32_t(bytes.size) + 1);
}

inline void put32(uint8_t* to, uint32_t value) { memcpy(to, &value, 4); }

template <class T>
T number_at(const uint8_t* from) {
  T value;
  memcpy(&value, from, sizeof value);
  return value;
}

// The checksums of its programs, then the file's.
inline void seal_model(Bytes& model) {
  const uint32_t sections = model.size > 24 ? number_at<uint32_t>(model.at + 16) : 0;
  for (uint32_t i = 0; i < sections && 24 + 32 * (size_t(i) + 1) <= model.size; ++i) {
    const uint64_t at = number_at<uint64_t>(model.at + 40 + 32 * i), size = number_at<uint64_t>(model.at + 48 + 32 * i);
    const bool inside = at <= model.size && size <= model.size - at && size > 16;
    if (inside && !memcmp(model.at + at, "BITREPLY", 8))
      put32(model.at + at + 12, bitreplay::crc32(model.at + at + 16, size - 16));
  }
  if (model.size > 16) put32(model.at + 12, bitreplay::crc32(model.at + 16, model.size - 16));
}

inline void seal_state(Bytes& state) {
  if (state.size >= BR_STATE_HEAD && !memcmp(state.at, "BITSTATE", 8)) {
    bitreplay::Sha256 digest;
    digest.update(state.at + BR_STATE_HEAD, state.size - BR_STATE_HEAD);
    return digest.finish(state.at + 16);
  }
  if (state.size < kDigitsAt + 64) return;
  memset(state.at + kDigitsAt, '0', 64);
  bitreplay::Sha256 digest;
  digest.update(state.at, state.size);
  digest.finish_hex(reinterpret_cast<char*>(state.at + kDigitsAt));
}

inline int read_bytes(void* context, size_t offset, void* to, size_t size) {
  const Bytes& from = *static_cast<Bytes*>(context);
  if (offset > from.size || size > from.size - offset) abort();
  memcpy(to, from.at + offset, size);
  return draw(5000) == 0;
}

inline Bytes allocator[2];
inline int read_place(void*, uint32_t slot, size_t offset, void* to, size_t size) {
  if (slot > 1 || offset + size > kPlace) abort();
  memcpy(to, allocator[slot].at + offset, size);
  return draw(2000) == 0;
}
inline int erase_place(void*, uint32_t slot, size_t size) {
  if (slot > 1 || size > kPlace) abort();
  memset(allocator[slot].at, 255, size);
  return draw(50) == 0;
}
inline int write_place(void*, uint32_t slot, size_t offset, const void* from, size_t size) {
  if (slot > 1 || offset + size > kPlace) abort();
  memcpy(allocator[slot].at + offset, from, size);
  return draw(200) == 0;
}
inline int sync_place(void*, uint32_t) { return draw(50) == 0; }
const br_slots kSlots = {nullptr, kPlace, read_place, erase_place, write_place, sync_place};

inline br_name any_name(char text[8]) {
  static const char* const usual[] = {"a", "b", "pear", "\xc3\xa4", "\xe6\xa2\xa8", "x\"'\\"};
  if (draw(4) == 0) return {nullptr, 0, int64_t(draw(3)) - 1};
  if (draw(4)) {
    const char* const chosen = usual[draw(6)];
    return {chosen, strlen(chosen), 0};
  }
  for (int i = 0; i < 8; ++i) text[i] = char(draw(256));
  return {text, draw(9), 0};
}

}  // namespace hostile
