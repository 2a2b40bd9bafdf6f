// Texts in a state's header that both learners read: the model's and the settings'.
#pragma once
#include "bitreplay_learner.h"
#include "learner/model.h"
#include "learner/state/input.h"

namespace bitreplay {

// The model's text begins with its checksum, which must be ours.
inline int model_text(Input& in, const Section& ours) {
  constexpr size_t known = 11 + 64;  // {"digest":"
  for (size_t i = 0;; ++i) {
    const int c = in.next_quoted();
    if (c == Input::kNone) return i > known ? BR_OK : BR_MALFORMED;
    if (i < known && (i >= ours.size || c != uint8_t(ours.bytes[i]))) return BR_OTHER_MODEL;
  }
}

// Appends to the `size` bytes in `settings`, up to `room`.
inline int settings_text(Input& in, char* settings, size_t* size, size_t room) {
  for (;;) {
    const int c = in.next_quoted();
    if (c == Input::kNone) return BR_OK;
    if (c < 32 || c > 126) return BR_MALFORMED;
    if (*size == room) return BR_FULL;
    settings[(*size)++] = char(c);
  }
}

}  // namespace bitreplay
