// What opening a learner of either strategy has in common.
#pragma once
#include <cstring>

#include "learner/model.h"
#include "learner/names.h"
#include "sums/bump_allocator.h"

namespace bitreplay {

constexpr uint32_t kMaxSettingsBytes = 1 << 16;
#if defined(BITREPLAY_EMBEDDED)
constexpr bool kHasHeap = false;
#else
constexpr bool kHasHeap = true;
#endif

// Where a learner is opened: in the caller's memory; or, without memory, what it takes is added up, and programs are
// opened on the heap meanwhile. Functions return BR_OK, or the code of what is wrong, of which `error` has a sentence.
struct Opening {
  uint8_t* memory;
  size_t size;
  char* error;
  size_t error_size;

  int fail(int code, const char* sentence) const {
    if (error && error_size) {
      strncpy(error, sentence, error_size - 1);
      error[error_size - 1] = 0;
    }
    return code;
  }
  int check_memory() const {
    const bool right = memory && reinterpret_cast<uintptr_t>(memory) % 64 == 0;
    return right ? BR_OK : fail(BR_MISALIGNED, "the learner's memory must be aligned to 64");
  }
  // Whether what was handed out so far is there.
  int check_size(const BumpAllocator& allocator) const {
    const bool fits = !memory || allocator.used() <= size;
    return fits ? BR_OK : fail(BR_NO_MEMORY, "the learner's memory is too small");
  }
  // Opens a program behind what was handed out so far.
  int open(const Section& section, const BumpAllocator& allocator, br_program** program) const {
    if (kHasHeap && !memory) return br_program_open(section.bytes, section.size, program, error, error_size);
    if (const int code = check_size(allocator)) return code;
    return br_program_open_in(section.bytes, section.size, memory + allocator.used(), size - allocator.used(), program,
                              error, error_size);
  }
  // Of a program on the heap.
  void close(br_program* program) const {
    if (kHasHeap && !memory) br_program_close(program);
  }
};

inline void copy_parameters(const br_program* program, uint8_t* to) {
  if (const uint64_t bytes = br_program_parameter_bytes(program))
    memcpy(to, br_program_initial_parameters(program), size_t(bytes));
}

inline void set_default(uint32_t* requested, uint32_t default_value) {
  if (!*requested) *requested = default_value;
}

// Options that both strategies have, and the model.
inline int read_model(const Opening& at, const void* bytes, size_t size, bool replay, br_learner_options* o,
                      bool options_are_right, Model* model) {
  set_default(&o->name_bytes, 64);
  set_default(&o->settings_bytes, 2048);
  if (!options_are_right || o->name_bytes > kMaxNameBytes || o->settings_bytes > kMaxSettingsBytes)
    return at.fail(BR_BAD_ARGUMENT, "an option of the learner is out of range");
  if (const char* wrong = model->read(bytes, size, replay)) return at.fail(BR_MALFORMED, wrong);
  if (model->settings.size > o->settings_bytes)
    return at.fail(BR_BAD_ARGUMENT, "the option settings_bytes is too small for the model's settings");
  return BR_OK;
}

}  // namespace bitreplay
