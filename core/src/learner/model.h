// A model file for the learner: the texts that its states carry, and the programs that it runs. docs/c.md has the layout.
#pragma once
#include <cstddef>
#include <cstdint>

namespace bitreplay {

struct Section {
  const char* bytes;
  size_t size;
};

struct Model {
  Section model, settings, parts;  // JSON, as state files have it
  Section features;                // the program: images -> numbers

  // One sentence about what is wrong with the bytes, or null.
  const char* read(const void* bytes, size_t size);
};

}  // namespace bitreplay
