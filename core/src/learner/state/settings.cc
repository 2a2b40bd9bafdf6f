#include "learner/state/settings.h"

#include <cstring>

#include "sums/solve.h"

namespace bitreplay {
namespace {

// Settings of other strategies (settings.py, OF_REPLAY), and what changes no sum.
const char* const kFree[] = {"augment",   "code_bits", "epochs",   "least_steps", "level",   "new",
                             "per_class", "rate",      "replayed", "seed",        "unknown", nullptr};

bool is_free(const char* const* free, const Section& key) {
  for (; *free; ++free)
    if (equal(key, {*free, strlen(*free)})) return true;
  return false;
}

// Digits to a number below 2^31; what follows them.
const char* take_number(const char* from, const char* end, int64_t* number) {
  const char* p = from;
  for (*number = 0; p < end && *p >= '0' && *p <= '9' && *number <= 1 << 30; ++p) *number = 10 * *number + (*p - '0');
  return p == from || *number > 1 << 30 ? nullptr : p;
}

}  // namespace

bool next_pair(const Section& text, size_t* at, Pair* pair) {
  const char *s = text.bytes, *const end = text.bytes + text.size;
  const char* p = s + *at;
  if (end - p < 2 || (*p != '{' && *p != ',') || p[1] != '"') return false;
  const char* const key = p + 2;
  for (p = key; p < end && *p != '"'; ++p) {}
  if (end - p < 2 || p[1] != ':') return false;
  pair->key = {key, size_t(p - key)};
  const char* const value = p + 2;
  bool inside = false;
  for (p = value; p < end && (inside || (*p != ',' && *p != '}')); ++p) {
    if (inside && *p == '\\') ++p;
    else if (*p == '"') inside = !inside;
  }
  if (p >= end) return false;
  pair->value = {value, size_t(p - value)};
  *at = size_t(p - s);
  return true;
}

bool equal(const Section& a, const Section& b) { return a.size == b.size && !memcmp(a.bytes, b.bytes, a.size); }

bool same_settings(const Section& ours, const Section& theirs) { return same_settings_but(kFree, ours, theirs); }

bool is_on(const Section& settings, const char* key) {
  size_t at = 0;
  for (Pair pair; next_pair(settings, &at, &pair);)
    if (equal(pair.key, {key, strlen(key)})) return equal(pair.value, {"true", 4});
  return false;
}

uint32_t unknown_share(const Section& settings) {
  size_t at = 0;
  for (Pair pair; next_pair(settings, &at, &pair);) {
    if (!equal(pair.key, {"unknown", 7})) continue;
    const char *p = pair.value.bytes, *const end = p + pair.value.size;
    int64_t top, bottom;
    if (end - p < 2 || *p != '"') return 0;
    p = take_number(p + 1, end, &top);
    if (!p || p >= end || *p != '/') return 0;
    p = take_number(p + 1, end, &bottom);
    if (!p || end - p != 1 || top < 1 || top >= bottom) return 0;
    return uint32_t(max_of(divide_round(left(top, 16), bottom), 1));
  }
  return 0;
}

bool same_settings_but(const char* const* free, const Section& ours, const Section& theirs) {
  size_t here = 0, there = 0;
  Pair mine = {}, other = {};
  for (;;) {
    const bool more = next_pair(ours, &here, &mine);
    if (more != next_pair(theirs, &there, &other)) return false;
    if (!more) break;
    if (!equal(mine.key, other.key) || (!is_free(free, mine.key) && !equal(mine.value, other.value))) return false;
  }
  const Section end = {"}", 1};
  return equal({ours.bytes + here, ours.size - here}, end) && equal({theirs.bytes + there, theirs.size - there}, end);
}

}  // namespace bitreplay
