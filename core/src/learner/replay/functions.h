// What the strategy replay has for each function of bitreplay_learner.h; learner.cc calls it.
//
// A learner with more than 16 classes opens a larger tail in its memory. If br_set_isa was called since it was opened,
// there may be no room for that tail (BR_NO_MEMORY). Every call is then refused until br_learner_clear, with the former
// instruction set, starts anew.
#pragma once
#include "learner/handle.h"
#include "learner/opening.h"
#include "learner/state/sections.h"

namespace bitreplay {

struct ReplayLearner;

// Describes a learner, and divides its memory or adds up what it takes.
int lay_out(ReplayLearner* l, const void* model, size_t size, const br_learner_options* options, const Opening& at);
// What else it needs where it lies in its memory; it has learned nothing then.
int set_up(ReplayLearner* l);
// BR_BAD_ORDER during an experience, BR_BAD_ARGUMENT without a tail.
int check_idle(const ReplayLearner* l);
int learner_encode(ReplayLearner* l, const br_picture* picture, uint64_t* code);
int learner_begin(ReplayLearner* l);
int learner_add(ReplayLearner* l, const br_picture* picture, const br_name* name);
int learner_add_encoded(ReplayLearner* l, const uint64_t* code, const br_name* name);
int learner_step(ReplayLearner* l, br_progress* progress);
int learner_end(ReplayLearner* l);
int learner_ready(const ReplayLearner* l);
// Whether it can answer now, and give this answer.
int check_answer(const ReplayLearner* l, const br_answer* answer);
int learner_predict_encoded(ReplayLearner* l, const uint64_t* code, br_answer* answer);
int learner_forget(ReplayLearner* l, const br_name* name);
int learner_forget_sample(ReplayLearner* l, int64_t sample);
int learner_rename(ReplayLearner* l, const br_name* from, const br_name* to);
uint32_t learner_classes(const ReplayLearner* l);
int learner_class(const ReplayLearner* l, uint32_t label, br_name* name, int64_t* pictures, int64_t* stored);
int64_t learner_pictures(const ReplayLearner* l);
// The sections that its hash covers, and those of its file.
void put_learned(SectionOutput out, const ReplayLearner& l);
void put_state(SectionOutput out, const ReplayLearner& l);
int learner_read(ReplayLearner* l, const File& file, bool untrusted);
int learner_verify(ReplayLearner* l, const File& file);

}  // namespace bitreplay
