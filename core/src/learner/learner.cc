// The learner of either strategy: each function calls that of the learner's own: exact/functions.h, replay/functions.h.
// What a strategy has not is said here. A device that was exported for one strategy leaves the other out.
#include "learner/exact/learner.h"
#include "learner/replay/learner.h"
#include "learner/state/settings.h"

#ifndef BITREPLAY_EXACT
#define BITREPLAY_EXACT 1
#endif
#ifndef BITREPLAY_REPLAY
#define BITREPLAY_REPLAY 1
#endif

namespace bitreplay {
namespace {

// An encoded image: features or a latent.
const int8_t* encoded_of(const ExactLearner*, const void* encoded) { return static_cast<const int8_t*>(encoded); }
int8_t* encoded_of(const ExactLearner*, void* encoded) { return static_cast<int8_t*>(encoded); }
const uint64_t* encoded_of(const ReplayLearner*, const void* encoded) { return static_cast<const uint64_t*>(encoded); }
uint64_t* encoded_of(const ReplayLearner*, void* encoded) { return static_cast<uint64_t*>(encoded); }
uint32_t encoded_bytes(const ExactLearner* l) { return l->features; }
uint32_t encoded_bytes(const ReplayLearner* l) { return uint32_t(sizeof(uint64_t)) * l->words; }

int step(ExactLearner* l, br_progress* progress) {
  if (!l->learning) return BR_BAD_ORDER;
  if (progress) *progress = {0, 0};
  return BR_OK;
}
int step(ReplayLearner* l, br_progress* progress) { return learner_step(l, progress); }

int64_t steps(const ExactLearner*) { return 0; }
int64_t steps(const ReplayLearner* l) { return l->steps; }
int64_t experiences(const ExactLearner* l) { return l->known.experiences; }
int64_t experiences(const ReplayLearner* l) { return l->experiences; }
int check_hash(const ExactLearner*) { return BR_OK; }
int check_hash(const ReplayLearner* l) { return check_idle(l); }
bool has_state(const ExactLearner*) { return true; }
bool has_state(const ReplayLearner* l) { return is_open(l); }

// Calls `call` with the learner as that of its strategy. A table of functions would keep in a device's flash what
// nobody calls.
template <class Call>
auto as(Strategy strategy, const br_learner* l, const Call& call) {
  br_learner* const own = const_cast<br_learner*>(l);  // `call` takes it as const again
  if constexpr (BITREPLAY_REPLAY)
    if (!BITREPLAY_EXACT || strategy == Strategy::replay) return call(static_cast<ReplayLearner*>(own));
  if constexpr (BITREPLAY_EXACT) return call(static_cast<ExactLearner*>(own));
}

template <class Result, class Call>
Result with(const br_learner* l, Result otherwise, const Call& call) {
  return l ? as(l->strategy, l, call) : otherwise;
}

template <class Call>
int with(const br_learner* l, const Call& call) {
  return with(l, int(BR_BAD_ARGUMENT), call);
}

// For what one strategy has alone.
template <class Learner, bool is_there, class Call>
int with_only(Strategy strategy, br_learner* l, const Call& call) {
  if (!l) return BR_BAD_ARGUMENT;
  if constexpr (is_there)
    if (l->strategy == strategy) return call(static_cast<Learner*>(l));
  return BR_UNSUPPORTED;
}

template <class Call>
int with_exact(br_learner* l, const Call& call) {
  return with_only<ExactLearner, BITREPLAY_EXACT>(Strategy::exact, l, call);
}

Strategy strategy_of(const void* model, size_t size) {
  if (!BITREPLAY_REPLAY) return Strategy::exact;
  if (!BITREPLAY_EXACT) return Strategy::replay;
  Model parsed = {};
  parsed.read(model, size);
  return parsed.backbone.size ? Strategy::replay : Strategy::exact;
}

template <class Learner>
int plan(const Learner*, const void* model, size_t size, const br_learner_options* options, const Opening& at,
         br_learner_memory* memory) {
  Learner learner = {};
  const int code = lay_out(&learner, model, size, options, at);
  *memory = code ? br_learner_memory{} : learner.memory_used;
  return code;
}

template <class Learner>
int open(Learner* own, const void* model, size_t size, const br_learner_options* options, const Opening& at,
         br_learner** learner) {
  Learner laid_out = {};
  if (const int code = lay_out(&laid_out, model, size, options, at)) return code;
  own = reinterpret_cast<Learner*>(at.memory);
  memcpy(own, &laid_out, sizeof laid_out);
  if (const int code = set_up(own)) return code;
  clear(own);
  *learner = own;
  return BR_OK;
}

}  // namespace

int read_own(br_learner* l, const File& file) {
  return with(l, [&](auto* own) { return learner_read(own, file, false); });
}

bool is_learning(const br_learner* l) {
  return with(l, false, [](const auto* own) { return check_idle(own) == BR_BAD_ORDER; });
}

}  // namespace bitreplay

using namespace bitreplay;

int br_learner_plan(const void* model, size_t size, const br_learner_options* options, br_learner_memory* memory,
                    char* error, size_t error_size) {
  if (!memory) return BR_BAD_ARGUMENT;
  if (!kHasHeap) return BR_NO_MEMORY;
  const Opening at = {nullptr, 0, error, error_size};
  return as(strategy_of(model, size), nullptr,
            [&](auto* none) { return plan(none, model, size, options, at, memory); });
}

int br_learner_open(const void* model, size_t size, const br_learner_options* options, void* memory, size_t memory_size,
                    br_learner** learner, char* error, size_t error_size) {
  if (!learner) return BR_BAD_ARGUMENT;
  *learner = nullptr;
  const Strategy strategy = strategy_of(model, size);
  const Opening at = {static_cast<uint8_t*>(memory), memory_size, error, error_size};
  if (const int misaligned = at.check_memory()) return misaligned;
  const int failed = as(strategy, nullptr, [&](auto* own) { return open(own, model, size, options, at, learner); });
  if (!failed) (*learner)->strategy = strategy;
  return failed;
}

void br_learner_memory_used(const br_learner* l, br_learner_memory* memory) {
  if (memory) *memory = l ? l->memory_used : br_learner_memory{};
}

void br_learner_clear(br_learner* l) {
  if (l) l->past_is_gone = true;
  with(l, 0, [](auto* own) { return clear(own), 0; });
}

const char* br_learner_strategy(const br_learner* l) {
  return !l ? nullptr : l->strategy == Strategy::exact ? "exact" : "replay";
}

uint32_t br_learner_side(const br_learner* l) { return l ? l->side : 0; }

uint32_t br_learner_encoded_bytes(const br_learner* l) {
  return with(l, uint32_t(0), [](const auto* own) { return encoded_bytes(own); });
}

int br_learner_encode(br_learner* l, const br_picture* picture, void* encoded) {
  return with(l, [&](auto* own) { return learner_encode(own, picture, encoded_of(own, encoded)); });
}

int br_learner_begin(br_learner* l) {
  return with(l, [](auto* own) { return learner_begin(own); });
}

int br_learner_add(br_learner* l, const br_picture* picture, const br_name* name) {
  return with(l, [&](auto* own) { return learner_add(own, picture, name); });
}

int br_learner_add_encoded(br_learner* l, const void* encoded, const br_name* name) {
  return with(l, [&](auto* own) { return learner_add_encoded(own, encoded_of(own, encoded), name); });
}

int br_learner_step(br_learner* l, br_progress* progress) {
  return with(l, [&](auto* own) { return step(own, progress); });
}

int br_learner_end(br_learner* l) {
  return with(l, [](auto* own) { return learner_end(own); });
}

int br_learner_ready(br_learner* l) {
  return with(l, [](auto* own) { return learner_ready(own); });
}

int br_learner_predict(br_learner* l, const br_picture* picture, br_answer* answer) {
  return with(l, [&](auto* own) {
    if (const int failed = check_answer(own, answer)) return failed;
    if (const int failed = learner_encode(own, picture, own->encoded)) return failed;
    return learner_predict_encoded(own, own->encoded, answer);
  });
}

int br_learner_predict_encoded(br_learner* l, const void* encoded, br_answer* answer) {
  return with(l, [&](auto* own) { return learner_predict_encoded(own, encoded_of(own, encoded), answer); });
}

uint32_t br_learner_share(const br_learner* l) { return l ? unknown_share({l->settings, l->settings_size}) : 0; }

int br_learner_unlearn(br_learner* l, const br_picture* picture, const br_name* name) {
  return with_exact(l, [&](auto* own) { return learner_unlearn(own, picture, name); });
}

int br_learner_unlearn_encoded(br_learner* l, const void* encoded, const br_name* name) {
  return with_exact(l, [&](auto* own) { return learner_unlearn_encoded(own, encoded_of(own, encoded), name); });
}

int br_learner_forget(br_learner* l, const br_name* name) {
  return with(l, [&](auto* own) { return learner_forget(own, name); });
}

int br_learner_forget_sample(br_learner* l, int64_t sample) {
  const auto forget = [&](auto* own) { return learner_forget_sample(own, sample); };
  return with_only<ReplayLearner, BITREPLAY_REPLAY>(Strategy::replay, l, forget);
}

int br_learner_rename(br_learner* l, const br_name* from, const br_name* to) {
  return with(l, [&](auto* own) { return learner_rename(own, from, to); });
}

uint32_t br_learner_classes(const br_learner* l) {
  return with(l, uint32_t(0), [](const auto* own) { return learner_classes(own); });
}

int br_learner_class(const br_learner* l, uint32_t label, br_name* name, int64_t* pictures, int64_t* stored) {
  return with(l, int(BR_BAD_ARGUMENT),
              [&](const auto* own) { return learner_class(own, label, name, pictures, stored); });
}

int br_learner_label(const br_learner* l, const br_name* name, uint32_t* label) {
  if (!l || !label || !is_name(name)) return BR_BAD_ARGUMENT;
  br_name own;
  for (*label = 0; !br_learner_class(l, *label, &own, nullptr, nullptr); ++*label)
    if (compare(own, *name) == 0) return BR_OK;
  return BR_UNKNOWN_CLASS;
}

int64_t br_learner_pictures(const br_learner* l) {
  return with(l, int64_t(0), [](const auto* own) { return learner_pictures(own); });
}

int64_t br_learner_experiences(const br_learner* l) {
  return with(l, int64_t(0), [](const auto* own) { return experiences(own); });
}

int64_t br_learner_steps(const br_learner* l) {
  return with(l, int64_t(0), [](const auto* own) { return steps(own); });
}

int br_learner_hash(br_learner* l, char hash[65]) {
  return with(l, [&](auto* own) -> int {
    if (!hash) return BR_BAD_ARGUMENT;
    if (const int failed = check_hash(own)) return failed;
    hash_of([&](SectionOutput out) { put_learned(out, *own); }, hash);
    return BR_OK;
  });
}

size_t br_learner_state_bytes(br_learner* l) {
  return with(l, size_t(0), [](auto* own) {
    return has_state(own) ? file_bytes([&](SectionOutput out) { put_state(out, *own); }) : 0;
  });
}

int br_learner_write(br_learner* l, br_write* write, void* context) {
  return with(l, [&](auto* own) -> int {
    if (!write) return BR_BAD_ARGUMENT;
    if (const int failed = check_idle(own)) return failed;
    return write_file(write, context, [&](SectionOutput out) { put_state(out, *own); });
  });
}

int br_learner_read(br_learner* l, br_read* read, void* context, size_t size) {
  return with(l, [&](auto* own) { return learner_read(own, {read, context, size}, true); });
}

int br_learner_verify(br_learner* l, br_read* read, void* context, size_t size) {
  return with(l, [&](auto* own) { return learner_verify(own, {read, context, size}); });
}

int br_learner_merge(br_learner* l, br_read* read, void* context, size_t size) {
  return with_exact(l, [&](auto* own) { return learner_merge(own, {read, context, size}, nullptr); });
}

int br_learner_merge_since(br_learner* l, br_read* read, void* context, size_t size, br_read* base_read,
                           void* base_context, size_t base_size) {
  const File base = {base_read, base_context, base_size};
  return with_exact(l, [&](auto* own) { return learner_merge(own, {read, context, size}, &base); });
}

int br_learner_take_out(br_learner* l, br_read* read, void* context, size_t size) {
  return with_exact(l, [&](auto* own) { return learner_take_out(own, {read, context, size}, nullptr); });
}

int br_learner_take_out_since(br_learner* l, br_read* read, void* context, size_t size, br_read* base_read,
                              void* base_context, size_t base_size) {
  const File base = {base_read, base_context, base_size};
  return with_exact(l, [&](auto* own) { return learner_take_out(own, {read, context, size}, &base); });
}
