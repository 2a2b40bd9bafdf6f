// What the strategy exact has for each function of bitreplay_learner.h; learner.cc calls it.
#pragma once
#include "learner/handle.h"
#include "learner/opening.h"
#include "learner/state/sections.h"

namespace bitreplay {

struct ExactLearner;

// Describes a learner, and divides its memory or adds up what it takes.
int lay_out(ExactLearner* l, const void* model, size_t size, const br_learner_options* options, const Opening& at);
// What else it needs where it lies in its memory; it has learned nothing then.
int set_up(ExactLearner* l);
// BR_BAD_ORDER during an experience.
int check_idle(const ExactLearner* l);
int learner_encode(ExactLearner* l, const br_picture* picture, int8_t* x);
int learner_begin(ExactLearner* l);
int learner_add(ExactLearner* l, const br_picture* picture, const br_name* name);
int learner_add_encoded(ExactLearner* l, const int8_t* x, const br_name* name);
int learner_end(ExactLearner* l);
int learner_ready(ExactLearner* l);
// Whether it can answer now, and give this answer.
int check_answer(ExactLearner* l, const br_answer* answer);
int learner_predict_encoded(ExactLearner* l, const int8_t* x, br_answer* answer);
int learner_unlearn(ExactLearner* l, const br_picture* picture, const br_name* name);
int learner_unlearn_encoded(ExactLearner* l, const int8_t* x, const br_name* name);
int learner_forget(ExactLearner* l, const br_name* name);
int learner_rename(ExactLearner* l, const br_name* from, const br_name* to);
uint32_t learner_classes(const ExactLearner* l);
int learner_class(const ExactLearner* l, uint32_t label, br_name* name, int64_t* pictures, int64_t* stored);
int64_t learner_pictures(const ExactLearner* l);
// The sections that its hash covers, and those of its file.
void put_learned(SectionOutput out, const ExactLearner& l);
void put_state(SectionOutput out, const ExactLearner& l);
int learner_read(ExactLearner* l, const File& file, bool untrusted);
int learner_verify(ExactLearner* l, const File& file);
int learner_merge(ExactLearner* l, const File& file, const File* base);
int learner_take_out(ExactLearner* l, const File& file, const File* base);

}  // namespace bitreplay
