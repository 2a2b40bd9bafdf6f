// Settings of a state, as sections `settings/...` in memory that passed the checks of form.
#pragma once
#include "learner/state/sections.h"

namespace bitreplay {

// Whether a state with `theirs` can go on where `ours` were: BR_OK, BR_OTHER_SETTINGS, BR_MALFORMED if they are not
// settings that can be. Those in `free`, a list that ends with null, may differ.
int compare_settings(const char* const* free, const Section& ours, const Section& theirs);

bool is_on(const Section& settings, const char* name);
bool is_text(const Section& settings, const char* name, const char* text);
// An integer, at most 2^64 - 1; 0 if it is not there.
uint64_t integer_of(const Section& settings, const char* name);
struct Fraction {
  int64_t top, bottom;  // 0, 0: it is not there
};
Fraction fraction_of(const Section& settings, const char* name);
// The setting `unknown`, scaled by 2^16 and at least 1 unless it is 0.
uint32_t unknown_share(const Section& settings);

}  // namespace bitreplay
