// A state from bytes, which are read several times: for the checksum, for all checks, for the factor of sums that are
// not trusted, and for the arrays.
#include "learner/exact/state_check.h"

namespace bitreplay {
namespace {

// Reads an array into its final place.
bool load(const ParsedState& parsed, Array array, void* to) {
  const uint64_t size = parsed.shape.has(array) ? parsed.bytes[array] : 0;
  return !size || parsed.file.read(parsed.file.context, size_t(parsed.at[array]), to, size_t(size)) == 0;
}

}  // namespace

int learner_read(ExactLearner* l, const File& file, bool untrusted) {
  if (!file.read) return BR_BAD_ARGUMENT;
  if (l->learning) return BR_BAD_ORDER;
  BumpAllocator allocator(l->use_work());
  ReadMemory memory(*l, allocator);
  ParsedState& parsed = memory.state;
  if (const int wrong = parse_state(*l, file, &memory, &parsed)) return wrong;
  if (untrusted) {
    if (const int wrong = check_factor(l, parsed)) return wrong;
    if (const int wrong = parse_again(*l, file, &memory, &parsed)) return wrong;
  }
  const uint32_t classes = parsed.known.names.count();
  clear(l);
  const bool loaded = load(parsed, kClassSums, l->sums.class_sums) && load(parsed, kProducts, l->sums.products) &&
                      load(parsed, kClassProducts, l->sums.class_products) && load(parsed, kValues, l->digests.values);
  if (!loaded) {
    clear(l);
    return BR_STORAGE;
  }
  memcpy(l->sums.counts, parsed.counts, classes * sizeof *parsed.counts);
  memcpy(l->settings, parsed.settings, parsed.settings_size);
  l->settings_size = parsed.settings_size;
  l->sums.classes = classes;
  l->sums.bits = parsed.shape.bits;
  l->known.names.copy(parsed.known.names);
  l->known.lineage.copy(parsed.known.lineage);
  l->known.forgotten = parsed.known.forgotten;
  l->known.experiences = parsed.known.experiences;
  l->past_is_gone = false;
  return BR_OK;
}

int learner_verify(ExactLearner* l, const File& file) {
  if (!file.read) return BR_BAD_ARGUMENT;
  BumpAllocator allocator(l->use_work());
  ReadMemory memory(*l, allocator);
  return parse_state(*l, file, &memory, &memory.state);
}

}  // namespace bitreplay
