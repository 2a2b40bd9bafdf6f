// A state from bytes. They are read for the checksum, for everything that can be wrong, from outside for the factor of
// the sums, and then for the numbers.
#include "learner/exact/state_check.h"

namespace bitreplay {
namespace {

// The numbers of an array, straight into their place.
bool load(const File& file, const Found& found, const Layout& layout, Layout::Array array, void* to) {
  const uint64_t size = layout.there[array] ? layout.bytes[array] : 0;
  return !size || file.read(file.context, size_t(found.arrays_at + layout.at[array]), to, size_t(size)) == 0;
}

}  // namespace

int read_state(br_learner* l, const File& file, bool outside) {
  if (!l || !file.read) return BR_BAD_ARGUMENT;
  if (l->learning) return BR_BAD_ORDER;
  Places places(l->use_work());
  Reading reading(*l, places);
  Found& found = reading.state;
  if (const int wrong = find(*l, file, reading.scratch, &found)) return wrong;
  if (outside) {
    if (const int wrong = check_factor(l, file, found)) return wrong;
    if (const int wrong = find_again(*l, file, &found)) return wrong;
  }
  const uint32_t classes = found.known.names.count();
  const Layout layout(found.shape);
  clear(l);
  const bool loaded = load(file, found, layout, Layout::kClassSums, l->sums.class_sums) &&
                      load(file, found, layout, Layout::kProducts, l->sums.products) &&
                      load(file, found, layout, Layout::kClassProducts, l->class_products) &&
                      load(file, found, layout, Layout::kValues, l->digests.values);
  if (!loaded) {
    clear(l);
    return BR_STORAGE;
  }
  memcpy(l->sums.counts, found.counts, classes * sizeof *found.counts);
  memcpy(l->settings, found.settings, found.settings_size);
  l->settings_size = found.settings_size;
  l->sums.classes = classes;
  l->sums.bits = found.shape.bits;
  l->known.names.copy(found.known.names);
  l->known.lineage.copy(found.known.lineage);
  l->known.forgotten = found.known.forgotten;
  l->known.experiences = found.known.experiences;
  l->past_is_gone = false;
  return BR_OK;
}

}  // namespace bitreplay

using namespace bitreplay;

int br_state_read(br_learner* l, br_read* read, void* context, size_t size) {
  return read_state(l, {read, context, size}, true);
}

int br_state_verify(br_learner* l, br_read* read, void* context, size_t size) {
  if (!l || !read) return BR_BAD_ARGUMENT;
  Places places(l->use_work());
  Reading reading(*l, places);
  return find(*l, {read, context, size}, reading.scratch, &reading.state);
}
