// An experience: the twin of strategies/gradient.py and strategies/replay.py.
//
//     add       a picture's latent and its name
//     step      a minibatch: new latents in the epoch's order, replayed ones behind them; forward, backward, update
//     end       the head is consolidated, the latents are offered to the memory
#include <cstring>

#include "bitreplay_method.h"
#include "learner/replay/learner.h"

namespace bitreplay {
namespace {

// The steps of an epoch.
uint64_t pieces_of(const ReplayLearner& l) { return (l.fresh_count - 1) / l.method.batch_size + 1; }

br_run_args args_of(const ReplayLearner& l, int64_t samples) {
  return {.seed = l.method.seed, .step = uint64_t(l.steps), .samples = samples, .rate_mantissa = 0, .rate_shift = 0};
}

// A counter that an experience could bring to its end: learner.py and state.py refuse it.
bool can_count(const ReplayLearner& l) {
  constexpr int64_t limit = kMaxCounted / 2;
  if (l.experiences >= kMaxExperiences || l.steps >= limit || l.store.offered >= limit || l.store.draws >= limit)
    return false;
  for (uint32_t c = 0; c < l.at.room; ++c)
    if (l.past[c] >= limit) return false;
  for (uint32_t k = 0; k < l.store.count; ++k)
    if (l.store.seen[k] >= limit) return false;
  return true;
}

// Numbers the new names in order, each with the lowest free number: classes.py, `add`.
void number_names(ReplayLearner* l) {
  int32_t* const numbers = reinterpret_cast<int32_t*>(l->present);  // [pending], -1 until it has one
  const uint32_t count = l->pending.count();
  for (uint32_t k = 0; k < count; ++k) numbers[k] = -1;
  for (uint32_t numbered = 0; numbered < count; ++numbered) {
    uint32_t first = count;
    for (uint32_t k = 0; k < count; ++k)
      if (numbers[k] < 0 && (first == count || compare(l->pending.at(k), l->pending.at(first)) < 0)) first = k;
    numbers[first] = int32_t(l->names.add(l->pending.at(first)));
  }
  for (uint32_t i = 0; i < l->fresh_count; ++i)
    if (l->labels[i] < 0) l->labels[i] = numbers[-1 - l->labels[i]];
  l->pending.clear();
}

// Temporary weights: the consolidated ones of the classes present.
void begin_head(ReplayLearner* l) {
  const size_t columns = l->at.columns;
  int32_t* const weights = l->head_weights();
  for (uint32_t c = 0; c < l->at.room; ++c) {
    l->active()[c] = l->present[c] > 0;
    if (l->present[c] > 0) memcpy(weights + c * columns, l->consolidated + c * columns, columns * sizeof *weights);
    else memset(weights + c * columns, 0, columns * sizeof *weights);
  }
}

int start(ReplayLearner* l) {
  if (l->phase == Phase::stepping || !l->fresh_count) return BR_OK;
  number_names(l);
  if (const int failed = resize(l, l->names.end() > l->at.room ? room_for(l->names.end()) : l->at.room)) return failed;
  memset(l->present, 0, l->at.room * sizeof *l->present);
  for (uint32_t i = 0; i < l->fresh_count; ++i) ++l->present[l->labels[i]];
  for (uint32_t k = 0; k < l->store.count; ++k) l->present[l->store.classes[k]] += l->store.sizes[k];
  begin_head(l);
  const Method& m = l->method;
  l->all_steps = pieces_of(*l) * br_epochs(l->fresh_count, m.batch_size, m.epochs, m.min_steps);
  l->done = 0;
  l->phase = Phase::stepping;
  return prepare_tail(l);
}

// Latents and labels of the next minibatch, in the arena.
uint32_t fill(ReplayLearner* l) {
  const Method& m = l->method;
  const uint64_t pieces = pieces_of(*l), epoch = l->done / pieces, piece = l->done % pieces;
  if (!piece) br_epoch_order(m.seed, uint64_t(l->experiences), epoch, l->fresh_count, l->order);
  uint64_t* codes = reinterpret_cast<uint64_t*>(l->work + l->at.codes_at);
  int32_t* labels = reinterpret_cast<int32_t*>(l->work + l->at.labels_at);
  const auto put = [&](const uint64_t* code, int32_t label) {
    memcpy(codes, code, l->words * sizeof *codes);
    codes += l->words;
    *labels++ = label;
  };
  const uint32_t first = uint32_t(piece * m.batch_size), left = l->fresh_count - first,
                 fresh = left < m.batch_size ? left : m.batch_size;
  for (uint32_t i = 0; i < fresh; ++i) {
    const uint32_t sample = uint32_t(l->order[first + i]);
    put(l->fresh + size_t(sample) * l->words, l->labels[sample]);
  }
  if (!l->store.stored) return fresh;
  const uint32_t replayed = br_replayed(fresh, m.batch_size, m.replay_batch_size);
  br_draw(m.seed, uint64_t(l->store.draws++), l->store.stored, replayed, l->exchanged, l->picked);
  for (uint32_t i = 0; i < replayed; ++i)
    put(l->store.codes + size_t(l->picked[i]) * l->words, label_of(*l, l->picked[i]));
  return fresh + replayed;
}

int step(ReplayLearner* l) {
  if (!l->tail_is_clean || !l->tail_is_prepared)
    if (const int failed = prepare_tail(l)) return failed;
  br_run_args args = args_of(*l, fill(l));
  const Method& m = l->method;
  rate_at(m, l->done, l->all_steps, &args.rate_mantissa, &args.rate_shift);
  if (const int failed = br_run(l->tail, BR_STEP, l->parameters, l->work, &args)) return failed;
  ++l->steps;
  ++l->done;
  return BR_OK;
}

}  // namespace

uint8_t* use_work(ReplayLearner* l) {
  l->tail_is_clean = false;
  if (l->backbone_arena == l->work) l->backbone_is_clean = false;
  return l->work;
}

int prepare_tail(ReplayLearner* l) {
  if (!l->tail_is_clean) {
    memset(use_work(l), 0, size_t(br_program_arena_bytes(l->tail)));
    l->tail_is_clean = true;
  }
  const int failed = br_run(l->tail, BR_PREPARE, l->parameters, l->work, &kOneImage);
  l->tail_is_prepared = !failed;
  return failed;
}

void activate(ReplayLearner* l) {
  for (uint32_t c = 0; c < l->at.room; ++c) l->active()[c] = l->past[c] > 0;
}

int learner_begin(ReplayLearner* l) {
  if (const int failed = check_idle(l)) return failed;
  if (!can_count(*l)) return BR_FULL;
  l->phase = Phase::adding;
  l->fresh_count = 0;
  l->pending.clear();
  return BR_OK;
}

int learner_add_encoded(ReplayLearner* l, const uint64_t* code, const br_name* name) {
  if (!is_open(l) || !code || !is_new_name(name)) return BR_BAD_ARGUMENT;
  if (l->phase != Phase::adding) return BR_BAD_ORDER;
  if (l->fresh_count == l->options.samples || !l->names.fits(*name)) return BR_FULL;
  uint32_t number;
  int32_t label = -1;
  if (l->names.find(*name, &number)) {
    label = int32_t(number);
  } else {
    uint32_t k = 0;
    while (k < l->pending.count() && compare(l->pending.at(k), *name)) ++k;
    if (k == l->pending.count()) {
      if (l->names.known() + k == l->options.classes) return BR_FULL;
      l->pending.append(*name);
    }
    label = -1 - int32_t(k);
  }
  memcpy(l->fresh + size_t(l->fresh_count) * l->words, code, l->words * sizeof *code);
  l->labels[l->fresh_count++] = label;
  return BR_OK;
}

int learner_add(ReplayLearner* l, const br_picture* picture, const br_name* name) {
  if (!is_open(l) || !is_new_name(name)) return BR_BAD_ARGUMENT;
  if (l->phase != Phase::adding) return BR_BAD_ORDER;
  if (l->fresh_count == l->options.samples) return BR_FULL;
  uint64_t* const code = l->fresh + size_t(l->fresh_count) * l->words;
  if (const int failed = learner_encode(l, picture, code)) return failed;
  return learner_add_encoded(l, code, name);
}

int learner_step(ReplayLearner* l, br_progress* progress) {
  if (!is_open(l)) return BR_BAD_ARGUMENT;
  if (l->phase == Phase::idle) return BR_BAD_ORDER;
  if (const int failed = start(l)) return failed;
  if (l->phase == Phase::stepping && l->done < l->all_steps)
    if (const int failed = step(l)) return failed;
  const bool begun = l->phase == Phase::stepping;
  if (progress) *progress = {begun ? l->done : 0, begun ? l->all_steps : 0};
  return BR_OK;
}

int learner_end(ReplayLearner* l) {
  if (!is_open(l)) return BR_BAD_ARGUMENT;
  if (l->phase == Phase::idle) return BR_BAD_ORDER;
  if (!l->fresh_count) {
    l->phase = Phase::idle;
    return BR_OK;
  }
  if (const int failed = start(l)) return failed;
  while (l->done < l->all_steps)
    if (const int failed = step(l)) return failed;
  const size_t weights = size_t(l->at.room) * l->at.columns;
  br_consolidate(l->consolidated, l->head_weights(), l->past, l->present, l->at.room, l->at.columns);
  memcpy(l->head_weights(), l->consolidated, weights * sizeof *l->consolidated);
  activate(l);
  l->tail_is_prepared = false;
  for (uint32_t i = 0; i < l->fresh_count; ++i) offer(l, l->fresh + size_t(i) * l->words, l->labels[i]);
  ++l->experiences;
  l->phase = Phase::idle;
  return BR_OK;
}

}  // namespace bitreplay
