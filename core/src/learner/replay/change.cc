// Forgetting and renaming classes of a replay learner, and its counts.
#include <cstring>

#include "learner/replay/learner.h"

namespace bitreplay {
namespace {

int known_number(const ReplayLearner& l, const br_name* name, uint32_t* number) {
  if (!is_name(name)) return BR_BAD_ARGUMENT;
  return l.names.find(*name, number) ? BR_OK : BR_UNKNOWN_CLASS;
}

}  // namespace

int check_idle(const ReplayLearner* l) {
  return !is_open(l) ? BR_BAD_ARGUMENT : l->phase != Phase::idle ? BR_BAD_ORDER : BR_OK;
}

bool can_answer(const ReplayLearner& l, uint32_t number) { return l.names.has(number) && l.past[number] > 0; }

int learner_forget(ReplayLearner* l, const br_name* name) {
  if (const int failed = check_idle(l)) return failed;
  uint32_t number;
  if (const int failed = known_number(*l, name, &number)) return failed;
  const size_t columns = l->at.columns;
  drop_class(l, int32_t(number));
  memset(l->consolidated + number * columns, 0, columns * sizeof *l->consolidated);
  memset(l->head_weights() + number * columns, 0, columns * sizeof *l->consolidated);
  l->past[number] = 0;
  l->names.free(number);
  activate(l);
  l->tail_is_prepared = false;
  l->past_is_gone = true;
  return BR_OK;
}

int learner_forget_sample(ReplayLearner* l, int64_t sample) {
  if (const int failed = check_idle(l)) return failed;
  const bool stored = drop_sample(l, sample);
  if (stored || (sample >= 0 && sample < l->store.offered)) l->past_is_gone = true;
  return stored ? BR_OK : BR_NEVER_LEARNED;
}

int learner_rename(ReplayLearner* l, const br_name* from, const br_name* to) {
  if (!is_new_name(to)) return BR_BAD_ARGUMENT;
  if (const int failed = check_idle(l)) return failed;
  uint32_t number, other;
  if (const int failed = known_number(*l, from, &number)) return failed;
  if (l->names.find(*to, &other)) return other == number ? BR_OK : BR_NAME_TAKEN;
  if (!l->names.fits(*to)) return BR_FULL;
  char copied[kMaxNameBytes];  // the new name may lie in the table
  if (to->text) memcpy(copied, to->text, to->length);
  l->names.rename(number, {to->text ? copied : nullptr, to->length, to->number});
  return BR_OK;
}

uint32_t learner_classes(const ReplayLearner* l) {
  uint32_t count = 0;
  for (uint32_t number = 0; number < l->names.end(); ++number) count += can_answer(*l, number);
  return count;
}

int learner_class(const ReplayLearner* l, uint32_t label, br_name* name, int64_t* pictures, int64_t* stored) {
  if (!is_open(l) || label >= learner_classes(l)) return BR_BAD_ARGUMENT;
  uint32_t number = 0;
  for (uint32_t before = label;; ++number)
    if (can_answer(*l, number) && before-- == 0) break;
  if (name) *name = l->names.at(number);
  if (pictures) *pictures = seen_of(*l, int32_t(number));
  if (stored) *stored = stored_of(*l, int32_t(number));
  return BR_OK;
}

int64_t learner_pictures(const ReplayLearner* l) {
  int64_t sum = 0;
  for (uint32_t k = 0; k < l->store.count; ++k) sum += l->store.seen[k];
  return sum;
}

}  // namespace bitreplay
