#include "learner/replay/method.h"

#include "bitreplay_method.h"

namespace bitreplay {
namespace {

// Writes the digits of a number in front of `end`.
char* put_digits(int64_t number, char* end) {
  do *--end = char('0' + number % 10);
  while (number /= 10);
  return end;
}

// "8/1/16": the width of latent weights stands in the middle; 1 leaves binary weights as they are.
bool read_weights_learn(const Section& settings, bool* weights_learn) {
  br_section bits;
  const uint8_t* const text = find_section(settings, "settings/bits", &bits);
  const void* const slash = text ? memchr(text, '/', size_t(bits.size)) : nullptr;
  const uint8_t* const first = static_cast<const uint8_t*>(slash);
  if (!first || text + bits.size - first < 3) return false;
  *weights_learn = !(first[1] == '1' && first[2] == '/');
  return true;
}

}  // namespace

const char* const kFreeInReplay[] = {"epochs",       "feature_layers", "learning_rate", "min_steps",
                                     "n_components", "projection",     "seed",          nullptr};

bool read_method(const Section& settings, const Section& fitted, Method* m) {
  bool weights_learn;
  if (!is_text(settings, "strategy", "replay") || is_on(settings, "augment")) return false;
  if (fraction_of(settings, "unknown").top || !read_weights_learn(settings, &weights_learn)) return false;
  m->seed = integer_of(settings, "seed");
  m->memory_per_class = uint32_t(integer_of(settings, "memory_per_class"));
  m->epochs = uint32_t(integer_of(settings, "epochs"));
  m->min_steps = uint32_t(integer_of(settings, "min_steps"));
  m->batch_size = uint32_t(integer_of(settings, "batch_size"));
  m->replay_batch_size = uint32_t(integer_of(settings, "replay_batch_size"));
  m->rate = fraction_of(settings, "learning_rate");
  m->fitted = fitted;
  m->rate_kind = m->rate.bottom ? BR_RATE_GIVEN : weights_learn ? BR_RATE_FITTED_WITH_FLIPS : BR_RATE_FITTED;
  int64_t mantissa, shift;
  return rate_at(*m, 0, 1, &mantissa, &shift) == BR_OK;
}

int rate_at(const Method& m, uint64_t done, uint64_t steps, int64_t* mantissa, int64_t* shift) {
  char text[44], *const end = text + sizeof text;
  Section rate = m.fitted;
  if (m.rate.bottom) {
    char* at = put_digits(m.rate.bottom, end);
    *--at = '/';
    at = put_digits(m.rate.top, at);
    rate = {at, size_t(end - at)};
  }
  return br_rate(rate.bytes, rate.size, m.rate_kind, done, steps, mantissa, shift);
}

}  // namespace bitreplay
