// Elements of any stored width as int64 and back. Storing keeps the low bits, as NumPy's assignment does.
#pragma once
#include <cstdint>

#include "bitreplay.h"

namespace bitreplay {

constexpr int64_t kLanesShared = 64;  // channels that threads take at least: whole vectors and cache lines
constexpr int64_t kTile = 256;        // elements that an operation holds as int64 on the stack

static inline int64_t element_bytes(int type) {
  switch (type) {
    case BR_INT8:
    case BR_UINT8: return 1;
    case BR_INT16: return 2;
    case BR_INT32:
    case BR_UINT32: return 4;
    default: return 8;
  }
}

template <class T>
static inline void widen_from(const void* from, int64_t at, int64_t count, int64_t* to) {
  const T* source = static_cast<const T*>(from) + at;
  for (int64_t i = 0; i < count; ++i) to[i] = int64_t(source[i]);
}

template <class T>
static inline void narrow_to(const int64_t* from, int64_t count, void* to, int64_t at) {
  T* target = static_cast<T*>(to) + at;
  for (int64_t i = 0; i < count; ++i) target[i] = T(from[i]);
}

static inline void widen(int type, const void* from, int64_t at, int64_t count, int64_t* to) {
  switch (type) {
    case BR_INT8: return widen_from<int8_t>(from, at, count, to);
    case BR_INT16: return widen_from<int16_t>(from, at, count, to);
    case BR_INT32: return widen_from<int32_t>(from, at, count, to);
    case BR_UINT8: return widen_from<uint8_t>(from, at, count, to);
    case BR_UINT32: return widen_from<uint32_t>(from, at, count, to);
    default: return widen_from<int64_t>(from, at, count, to);
  }
}

static inline void narrow(int type, const int64_t* from, int64_t count, void* to, int64_t at) {
  switch (type) {
    case BR_INT8:
    case BR_UINT8: return narrow_to<int8_t>(from, count, to, at);
    case BR_INT16: return narrow_to<int16_t>(from, count, to, at);
    case BR_INT32:
    case BR_UINT32: return narrow_to<int32_t>(from, count, to, at);
    default: return narrow_to<int64_t>(from, count, to, at);
  }
}

}  // namespace bitreplay
