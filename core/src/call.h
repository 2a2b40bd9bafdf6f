// What an operation sees while it runs: its tensors as pointers, its attributes, the arguments of the run.
//
// Members are always inlined: loops are compiled once for each instruction set, and the linker must not keep the copy of
// one of them for all.
#pragma once
#include "dispatch.h"
#include "program.h"

namespace bitreplay {

#define BR_INLINE __attribute__((always_inline))

struct Call {
  const br_program& program;
  const Record& record;
  const br_run_args& run;
  uint8_t* const* regions;  // by br_region; the constants are never written

  BR_INLINE bool has(int role) const { return record.tensors[role] >= 0; }
  BR_INLINE const Tensor& tensor(int role) const { return program.tensors[record.tensors[role]]; }
  BR_INLINE int type(int role) const { return int(tensor(role).info.dtype); }
  BR_INLINE int64_t size(int role, int axis) const { return tensor(role).info.shape[axis]; }
  BR_INLINE int64_t elements(int role) const { return int64_t(tensor(role).elements); }
  BR_INLINE int64_t attribute(int number) const { return record.attributes[number]; }
  BR_INLINE int64_t samples() const { return run.samples; }
  BR_INLINE const Kernels& kernels() const { return *program.kernels; }

  BR_INLINE uint8_t* bytes(int role) const {
    return has(role) ? regions[tensor(role).info.region] + tensor(role).info.offset : nullptr;
  }
  template <class T>
  BR_INLINE T* data(int role) const {
    return reinterpret_cast<T*>(bytes(role));
  }
  BR_INLINE uint8_t* derived() const {
    if (record.derived == Derived::none) return nullptr;
    if (record.derived == Derived::scratch) return regions[BR_ARENA] + program.arena_bytes;
    return program.derived + record.derived_offset;
  }
};

#undef BR_INLINE

}  // namespace bitreplay
