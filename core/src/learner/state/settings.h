// Settings, as state files store them.
#pragma once
#include "learner/model.h"

namespace bitreplay {

// Whether two states' sums are compatible: all settings of the exact strategy are equal.
bool same_settings(const Section& ours, const Section& theirs);
// The setting `unknown`, scaled by 2^16 and at least 1 unless it is 0; 0 if it is not a fraction below 1.
uint32_t unknown_share(const Section& settings);
// Whether a setting is true.
bool is_on(const Section& settings, const char* key);
// Whether all settings are equal except for those in `free`, a list that ends with null.
bool same_settings_but(const char* const* free, const Section& ours, const Section& theirs);

// A key and its value from {"key":value,...}, where values hold no braces and no lists.
struct Pair {
  Section key, value;
};
bool equal(const Section& a, const Section& b);
// Reads the pair at `at` and moves `at` behind it; false if there is none.
bool next_pair(const Section& text, size_t* at, Pair* pair);

}  // namespace bitreplay
