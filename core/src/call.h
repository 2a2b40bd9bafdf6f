// What an operation sees while it runs: its tensors as pointers, its attributes, the arguments of the run.
#pragma once
#include "dispatch.h"
#include "program.h"

namespace bitreplay {

struct Call {
  const br_program& program;
  const Record& record;
  const br_run_args& run;
  uint8_t* const* regions;  // by br_region; the constants are never written

  bool has(int role) const { return record.tensors[role] >= 0; }
  const Tensor& tensor(int role) const { return program.tensors[record.tensors[role]]; }
  int type(int role) const { return int(tensor(role).info.dtype); }
  int64_t size(int role, int axis) const { return tensor(role).info.shape[axis]; }
  int64_t elements(int role) const { return int64_t(tensor(role).elements); }
  int64_t attribute(int number) const { return record.attributes[number]; }
  int64_t samples() const { return run.samples; }
  const Kernels& kernels() const { return *program.kernels; }

  uint8_t* bytes(int role) const {
    return has(role) ? regions[tensor(role).info.region] + tensor(role).info.offset : nullptr;
  }
  template <class T>
  T* data(int role) const {
    return reinterpret_cast<T*>(bytes(role));
  }
  uint8_t* derived() const {
    if (record.derived == Derived::none) return nullptr;
    uint8_t* base = record.derived == Derived::program ? program.derived : regions[BR_ARENA] + program.arena_bytes;
    return base + record.derived_offset;
  }
};

}  // namespace bitreplay
