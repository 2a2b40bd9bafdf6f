// What an operation sees while it runs: its tensors as pointers, its attributes, the arguments of the run.
//
// A call may be about a part of the work: some samples (tensors per sample then begin at the first of them), or, where
// the operation is `in_parts`, part number `part` of `parts`.
//
// Members are always inlined: loops are compiled once for each instruction set, and the linker must not keep the copy
// of one of them for all.
#pragma once
#include "machine/dispatch.h"
#include "machine/program.h"

namespace bitreplay {

#define BR_INLINE __attribute__((always_inline))

struct Range {
  int64_t first, last;
};

struct Call {
  const br_program& program;
  const Record& record;
  const br_run_args& run;  // of the whole minibatch
  int64_t count;           // samples of this call
  int64_t part, parts;
  uint8_t* scratch;
  uint8_t* roles[kMaxRoles];  // null where an optional tensor is absent; the constants are never written

  BR_INLINE bool has(int role) const { return record.tensors[role] >= 0; }
  BR_INLINE const Tensor& tensor(int role) const { return program.tensors[record.tensors[role]]; }
  BR_INLINE int type(int role) const { return int(tensor(role).info.dtype); }
  BR_INLINE int64_t size(int role, int axis) const { return tensor(role).info.shape[axis]; }
  BR_INLINE int64_t elements(int role) const { return int64_t(tensor(role).elements); }
  BR_INLINE int64_t attribute(int number) const { return record.attributes[number]; }
  BR_INLINE int64_t samples() const { return count; }
  BR_INLINE const Kernels& kernels() const { return *program.kernels; }
  // The share of this part in `size` things, cut at multiples of `grain`.
  BR_INLINE Range share(int64_t size, int64_t grain = 1) const {
    const int64_t grains = (size + grain - 1) / grain, last = grains * (part + 1) / parts * grain;
    return {grains * part / parts * grain, last < size ? last : size};
  }

  BR_INLINE uint8_t* bytes(int role) const { return roles[role]; }
  template <class T>
  BR_INLINE T* data(int role) const {
    return reinterpret_cast<T*>(roles[role]);
  }
  BR_INLINE uint8_t* packed_weights() const {
    if (record.packed_weights == PackedIn::none) return nullptr;
    return record.packed_weights == PackedIn::scratch ? scratch : program.packed_weights + record.packed_offset;
  }
  BR_INLINE uint8_t* prepared() const {
    return record.prepared_offset ? program.packed_weights + record.prepared_offset : nullptr;
  }
};

#undef BR_INLINE

// A call about `count` samples from `first` on; `regions` by br_region.
Call call_of(const br_program& program, const Record& record, const br_run_args& run, uint8_t* const* regions,
             int64_t first, int64_t count);

}  // namespace bitreplay
