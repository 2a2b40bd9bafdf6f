// What states of both strategies have besides what was learned: a model, settings, versions of parts. And a file of any
// format, opened.
#pragma once
#include "learner/old/old_state.h"
#include "learner/state/sections.h"

namespace bitreplay {

// The checksum of a file of any format: BR_OK, BR_DAMAGED, BR_MALFORMED, BR_STORAGE.
int check_sum(const File& file);
// A file of any format: `sections` is to be read as one of format 3, until the memory of `old` is used otherwise.
struct StateSource {
  File sections;
  const OldState* old;  // null: it is one of format 3

  // Checks its SHA-256 and form: BR_OK, BR_DAMAGED, BR_MALFORMED, BR_FULL, BR_STORAGE.
  int open(const File& file, const Model& model, OldState* memory);
  // Where the content of an array at this offset lies in the file itself.
  uint64_t locate(uint64_t offset) const { return old ? old->locate(offset) : offset; }
};

// Whether model, settings and versions of parts are those of the learner; settings in `free` may differ (settings.h).
// The settings are copied to `to`. BR_OK, BR_OTHER_MODEL, BR_OTHER_SETTINGS, BR_MALFORMED, BR_FULL, BR_STORAGE.
int check_frame(const File& sections, const Model& model, const char* const* free, char* to, size_t room, size_t* size);

}  // namespace bitreplay
