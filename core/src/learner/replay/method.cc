#include "learner/replay/method.h"

#include <cstring>

#include "bitreplay_method.h"
#include "learner/state/settings.h"

namespace bitreplay {
namespace {

constexpr uint64_t kMaxCount = 1 << 20, kMaxBottom = 1 << 30;

// What is only read while learning, and what belongs to other strategies.
const char* const kFree[] = {"digests",    "epochs", "exact_forget", "least_steps", "numbers",
                             "projection", "rate",   "seed",         nullptr};

bool is(const Section& text, const char* word) { return equal(text, {word, strlen(word)}); }

bool read_integer(const Section& text, uint64_t min_value, uint64_t max_value, uint64_t* value) {
  *value = 0;
  for (size_t i = 0; i < text.size; ++i) {
    if (text.bytes[i] < '0' || text.bytes[i] > '9' || (i && text.bytes[0] == '0')) return false;
    const uint64_t digit = uint64_t(text.bytes[i] - '0');
    if (digit > max_value || *value > (max_value - digit) / 10) return false;
    *value = 10 * *value + digit;
  }
  return text.size && *value >= min_value;
}

bool read_count(const Section& text, uint32_t* value) {
  uint64_t integer;
  if (!read_integer(text, 1, kMaxCount, &integer)) return false;
  *value = uint32_t(integer);
  return true;
}

bool quoted(const Section& text, Section* inside) {
  if (text.size < 2 || text.bytes[0] != '"' || text.bytes[text.size - 1] != '"') return false;
  *inside = {text.bytes + 1, text.size - 2};
  return true;
}

// Above 0, at most 1, as Python's Fraction prints it.
bool read_rate(const Section& text, Section* fraction) {
  if (!quoted(text, fraction)) return false;
  const void* const slash = memchr(fraction->bytes, '/', fraction->size);
  if (!slash) return is(*fraction, "1");
  const size_t at = size_t(static_cast<const char*>(slash) - fraction->bytes);
  uint64_t top, bottom;
  return read_integer({fraction->bytes, at}, 1, kMaxBottom, &top) &&
         read_integer({fraction->bytes + at + 1, fraction->size - at - 1}, 1, kMaxBottom, &bottom) && top <= bottom;
}

// "8/1/16": the width of latent weights stands in the middle; 1 leaves binary weights as they are.
bool read_weights_learn(const Section& text, bool* weights_learn) {
  Section widths;
  if (!quoted(text, &widths)) return false;
  const char* const first = static_cast<const char*>(memchr(widths.bytes, '/', widths.size));
  const char* const end = widths.bytes + widths.size;
  if (!first || end - first < 3) return false;
  *weights_learn = !(first[1] == '1' && first[2] == '/');
  return true;
}

}  // namespace

bool read_method(const Section& settings, const Section& fitted, Method* m) {
  size_t at = 0;
  Pair pair = {};
  Section bits = {}, rate_text = {};
  uint32_t matched = 0;
  while (next_pair(settings, &at, &pair)) {
    const Section &key = pair.key, &value = pair.value;
    if (is(key, "strategy")) matched += is(value, "\"replay\"");
    else if (is(key, "augment")) matched += is(value, "false");
    else if (is(key, "unknown")) matched += is(value, "\"0\"");
    else if (is(key, "seed")) matched += read_integer(value, 0, UINT64_MAX, &m->seed);
    else if (is(key, "per_class")) matched += read_count(value, &m->memory_per_class);
    else if (is(key, "epochs")) matched += read_count(value, &m->epochs);
    else if (is(key, "least_steps")) matched += read_count(value, &m->min_steps);
    else if (is(key, "new")) matched += read_count(value, &m->batch_size);
    else if (is(key, "replayed")) matched += read_count(value, &m->replay_batch_size);
    else if (is(key, "bits")) bits = value;
    else if (is(key, "rate")) rate_text = value;
  }
  bool weights_learn;
  if (matched != 9 || !rate_text.size || !bits.size || !read_weights_learn(bits, &weights_learn)) return false;
  m->rate = fitted;
  m->rate_kind = weights_learn ? BR_RATE_FITTED_WITH_FLIPS : BR_RATE_FITTED;
  if (!is(rate_text, "null")) {
    m->rate_kind = BR_RATE_GIVEN;
    if (!read_rate(rate_text, &m->rate)) return false;
  }
  int64_t mantissa, shift;
  return br_rate(m->rate.bytes, m->rate.size, m->rate_kind, 0, 1, &mantissa, &shift) == BR_OK;
}

bool same_method(const Section& ours, const Section& theirs) { return same_settings_but(kFree, ours, theirs); }

}  // namespace bitreplay
