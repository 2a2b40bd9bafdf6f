// What changes a learner: pictures that are learned and unlearned, classes that are forgotten and renamed.
#include <cstring>

#include "arithmetic/fixedpoint.h"
#include "learner/exact/learner.h"
#include "learner/fit.h"
#include "learner/state/sections.h"
#include "sums/check.h"

namespace bitreplay {
namespace {

bool are_numbers(const ExactLearner& l, const int8_t* x) {
  for (uint32_t i = 0; x && i < l.features; ++i)
    if (x[i] < -kLargestNumber) return false;
  return x != nullptr;
}

// Adds the names of the last `count` pictures to the experience's digest: parts/lineage.py, `brought`.
void bring_names(ExactLearner* l, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const br_name name = l->known.names.at(l->labels[i]);
    put_name(to_digest(&l->experience), &name);
  }
}

// Adds the picture to its class, or takes it out.
int change(ExactLearner* l, const int8_t* x, uint32_t row, int sign) {
  set_width(l, extent_of(*l) + (sign > 0));
  const int32_t label = int32_t(row);
  const int failed = br_sums_add(&l->sums, x, &label, 1, sign, l->use_work());
  // A picture that was not in the sums may make products larger: learner_unlearn_encoded asks whether there is room for
  // them.
  if (has_room_for(*l, extent_of(*l), 0)) set_width(l, extent_of(*l));
  l->ready = false;
  return failed;
}

bool has_no_sums(const ExactLearner& l, uint32_t row) {
  for (int64_t i = 0; i < l.features; ++i)
    if (sum_at(l.sums.class_sums, l.sums.bits, int64_t(row) * l.features + i)) return false;
  return true;
}

int known_row(const ExactLearner& l, const br_name* name, uint32_t* row) {
  if (!is_name(name)) return BR_BAD_ARGUMENT;
  bool known;
  *row = l.known.names.find(*name, &known);
  return known ? BR_OK : BR_UNKNOWN_CLASS;
}

// A class whose products are kept, if what stays can be the sums of pictures.
bool take_class_out(ExactLearner* l, uint32_t row) {
  const uint32_t last = l->sums.classes - 1;
  change_all_products(l->sums, row, -1);
  move_row(l, row, last);
  l->sums.classes = last;
  if (are_possible(*l, l->use_work()) && have_factor(l)) {
    l->known.names.erase(row);
    return true;
  }
  l->sums.classes = last + 1;
  move_row(l, last, row);
  change_all_products(l->sums, row, 1);
  return false;
}

}  // namespace

int check_idle(const ExactLearner* l) { return l->learning ? BR_BAD_ORDER : BR_OK; }

int learner_begin(ExactLearner* l) {
  if (l->learning) return BR_BAD_ORDER;
  if (max_of(l->known.experiences, l->known.forgotten) >= kMaxCounted / 2)
    return BR_FULL;  // state.py, need_room_to_count
  l->learning = true;
  l->brought = 0;
  l->experience.begin();
  return BR_OK;
}

int learner_add_encoded(ExactLearner* l, const int8_t* x, const br_name* name) {
  if (!is_new_name(name) || !are_numbers(*l, x)) return BR_BAD_ARGUMENT;
  if (!l->learning) return BR_BAD_ORDER;
  if (!has_room_for(*l, extent_of(*l) + 1, pictures_of(*l) + 1)) return BR_FULL;
  uint32_t row;
  if (const int failed = row_of(l, *name, &row)) return failed;
  if (const int failed = change(l, x, row, 1)) {
    if (!l->sums.counts[row]) erase_row(l, row);
    return failed;
  }
  if (l->digests.values)
    l->digests.insert(first_of(*l, row), l->sums.counts[row] - 1, pictures_of(*l) - 1,
                      br_mark(nullptr, 0, x, l->features));
  l->experience.update(x, l->features);
  l->labels[l->brought++ % kBroughtAtOnce] = uint16_t(row);
  if (l->brought % kBroughtAtOnce == 0) bring_names(l, kBroughtAtOnce);
  return BR_OK;
}

int learner_add(ExactLearner* l, const br_picture* picture, const br_name* name) {
  if (!is_new_name(name)) return BR_BAD_ARGUMENT;
  if (!l->learning) return BR_BAD_ORDER;
  if (const int failed = learner_encode(l, picture, l->encoded)) return failed;
  return learner_add_encoded(l, l->encoded, name);
}

int learner_end(ExactLearner* l) {
  if (!l->learning) return BR_BAD_ORDER;
  l->learning = false;
  if (!l->brought) return BR_OK;
  if (const uint32_t left = uint32_t(l->brought % kBroughtAtOnce)) bring_names(l, left);
  uint8_t digest[32];
  l->experience.finish(digest);
  l->known.lineage.learned(digest);
  ++l->known.experiences;
  return BR_OK;
}

int learner_unlearn_encoded(ExactLearner* l, const int8_t* x, const br_name* name) {
  if (!are_numbers(*l, x)) return BR_BAD_ARGUMENT;
  if (l->learning) return BR_BAD_ORDER;
  uint32_t row;
  if (const int failed = known_row(*l, name, &row)) return failed;
  const int64_t all = pictures_of(*l), first = first_of(*l, row);
  const int64_t digest =
      l->digests.values ? l->digests.find(first, l->sums.counts[row], br_mark(nullptr, 0, x, l->features)) : 0;
  if (digest < 0) return BR_NEVER_LEARNED;
  if (const int failed = change(l, x, row, -1)) return failed;
  if (!has_room_for(*l, extent_of(*l), 0)) {
    const int failed = change(l, x, row, 1);
    return failed ? failed : BR_FULL;
  }
  const bool last = l->sums.classes == 1 && !l->sums.counts[row];
  const bool right = last && l->known.forgotten
                         ? has_no_sums(*l, row)
                         : are_possible(*l, l->use_work()) && (!last || has_no_products(*l)) && have_factor(l);
  if (!right) {
    const int failed = change(l, x, row, 1);
    return failed ? failed : BR_NEVER_LEARNED;
  }
  if (l->digests.values) l->digests.erase(digest, 1, all);
  if (last) leave_nothing(l);
  else if (!l->sums.counts[row]) erase_row(l, row);
  l->past_is_gone = true;
  return BR_OK;
}

int learner_unlearn(ExactLearner* l, const br_picture* picture, const br_name* name) {
  if (!is_name(name)) return BR_BAD_ARGUMENT;
  if (const int failed = learner_encode(l, picture, l->encoded)) return failed;
  return learner_unlearn_encoded(l, l->encoded, name);
}

// The class's count and sum go, and its products where they are kept, else s s^T / n, rounded:
// parts/class_statistics.py, `forget`.
int learner_forget(ExactLearner* l, const br_name* name) {
  if (l->learning) return BR_BAD_ORDER;
  uint32_t row;
  if (const int failed = known_row(*l, name, &row)) return failed;
  if (l->sums.classes == 1) {
    l->past_is_gone = true;
    leave_nothing(l);
    return BR_OK;
  }
  const int64_t count = l->sums.counts[row], stay = pictures_of(*l) - count;
  l->ready = false;
  if (l->sums.class_products) {
    if (!take_class_out(l, row)) return BR_IMPOSSIBLE;
    if (l->digests.values) l->digests.erase(stay, count, stay + count);
  } else {
    if (l->known.forgotten == kMaxCounted - 1) return BR_FULL;
    const int64_t extent = br_sums_extent_without(&l->sums, row, l->use_work());
    if (!has_room_for(*l, extent, 0))
      return BR_FULL;  // what older versions cut off may leave more than there is room for
    set_width(l, max_of(extent, extent_of(*l)));
    br_sums_forget(&l->sums, row, l->work);
    if (l->digests.values) l->digests.erase(first_of(*l, row), count, stay + count);
    erase_row(l, row);
    ++l->known.forgotten;
  }
  set_width(l, extent_of(*l));
  l->past_is_gone = true;
  return BR_OK;
}

int learner_rename(ExactLearner* l, const br_name* from, const br_name* to) {
  if (!is_new_name(to)) return BR_BAD_ARGUMENT;
  if (l->learning) return BR_BAD_ORDER;
  uint32_t row;
  if (const int failed = known_row(*l, from, &row)) return failed;
  if (compare(*from, *to) == 0) return BR_OK;
  bool taken;
  uint32_t place = l->known.names.find(*to, &taken);
  if (taken) return BR_NAME_TAKEN;
  if (!l->known.names.fits(*to)) return BR_FULL;
  if (place > row) --place;
  // The new name may lie in the table, in the row that goes: only as the old one, which was ruled out.
  l->known.names.erase(row);
  l->known.names.insert(place, *to);
  move_row(l, row, place);
  l->ready = false;
  return BR_OK;
}

uint32_t learner_classes(const ExactLearner* l) { return l->sums.classes; }
int64_t learner_pictures(const ExactLearner* l) { return pictures_of(*l); }

int learner_class(const ExactLearner* l, uint32_t label, br_name* name, int64_t* pictures, int64_t* stored) {
  if (label >= l->sums.classes) return BR_BAD_ARGUMENT;
  if (name) *name = l->known.names.at(label);
  if (pictures) *pictures = l->sums.counts[label];
  if (stored) *stored = 0;
  return BR_OK;
}

}  // namespace bitreplay
