// A model file for the learners: sections that their states contain, and the programs that they run. docs/c.md has the
// layout.
#pragma once
#include <cstddef>
#include <cstdint>

#include "bitreplay.h"

namespace bitreplay {

struct Section {
  const char* bytes;
  size_t size;
};

constexpr uint32_t kMaxTails = 8;

struct Model {
  Section model, settings, versions;  // sections, as state files have them
  uint64_t own_size;                  // of images, that states of formats 1 and 2 mean if they name none
  Section features;                   // the program: images -> features
  br_shrinkage shrinkage;             // of the discriminant; all 0: the default
  // Of replay: images -> latents; the tail for 16 classes, for 32 and so on; the rate that a model is fitted for.
  Section backbone, tails[kMaxTails], rate;

  // Returns null, or a sentence about what is wrong with the bytes. `replay`: expects a model for that strategy.
  const char* read(const void* bytes, size_t size, bool replay = false);
};

}  // namespace bitreplay
