// Settings, as state files keep them.
#pragma once
#include "learner/model.h"

namespace bitreplay {

// Whether they make the same sums: all that is not about other strategies is equal.
bool same_settings(const Section& ours, const Section& theirs);
// `unknown`, 16 bits behind the point and above 0 if it is; 0 where it is not a fraction below 1.
uint32_t unknown_share(const Section& settings);
// Whether a setting is true.
bool is_on(const Section& settings, const char* key);
// The same where other settings are free: a list that ends with null.
bool same_settings_but(const char* const* free, const Section& ours, const Section& theirs);

// A key and its value from {"key":value,...}, where values hold no braces and no lists.
struct Pair {
  Section key, value;
};
bool equal(const Section& a, const Section& b);
// The pair at `at`, which moves behind it; false where there is none.
bool next_pair(const Section& text, size_t* at, Pair* pair);

}  // namespace bitreplay
