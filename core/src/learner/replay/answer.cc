// Latents of pictures, and what the tail answers: the twins of parts/backbone.py and prediction/predictor.py.
#include <cstring>

#include "arithmetic/softmax.h"
#include "learner/fit.h"
#include "learner/replay/learner.h"

namespace bitreplay {
namespace {

int clean_backbone(ReplayLearner* l) {
  if (l->backbone_is_clean) return BR_OK;
  if (l->backbone_arena == l->work) use_work(l);
  memset(l->backbone_arena, 0, l->backbone_arena_bytes);
  if (const int failed = br_run(l->backbone, BR_PREPARE, l->backbone_parameters, l->backbone_arena, &kOneImage))
    return failed;
  l->backbone_is_clean = true;
  return BR_OK;
}

}  // namespace

int learner_ready(const ReplayLearner* l) { return learner_classes(l) ? BR_OK : BR_NOTHING_LEARNED; }

int learner_encode(ReplayLearner* l, const br_picture* picture, uint64_t* code) {
  if (!is_open(l) || !code || !is_picture(picture)) return BR_BAD_ARGUMENT;
  if (const int failed = clean_backbone(l)) return failed;
  if (l->backbone_arena == l->work) l->tail_is_clean = false;
  fit(*picture, l->side, l->backbone_arena + l->images_at);
  if (const int failed = br_run(l->backbone, BR_FORWARD, l->backbone_parameters, l->backbone_arena, &kOneImage))
    return failed;
  memcpy(code, l->backbone_arena + l->codes_at, l->words * sizeof *code);
  return BR_OK;
}

int check_answer(const ReplayLearner* l, const br_answer* answer) {
  if (!answer || answer->share) return BR_BAD_ARGUMENT;
  if (const int failed = check_idle(l)) return failed;
  return learner_ready(l);
}

int learner_predict_encoded(ReplayLearner* l, const uint64_t* code, br_answer* answer) {
  if (!code) return BR_BAD_ARGUMENT;
  if (const int failed = check_answer(l, answer)) return failed;
  const uint32_t classes = learner_classes(l);
  if (!l->tail_is_clean || !l->tail_is_prepared)
    if (const int failed = prepare_tail(l)) return failed;
  if (l->backbone_arena == l->work) l->backbone_is_clean = false;
  memcpy(l->work + l->at.codes_at, code, l->words * sizeof *code);
  if (const int failed = br_run(l->tail, BR_FORWARD, l->parameters, l->work, &kOneImage)) return failed;
  const int32_t* const logits = reinterpret_cast<const int32_t*>(l->work + l->at.logits_at);
  int64_t* const scores = answer->scores ? answer->scores : l->logits;
  answer->label = answer->unknown = 0;
  for (uint32_t number = 0, k = 0; k < classes; ++number) {
    if (!can_answer(*l, number)) continue;
    scores[k] = logits[number];
    if (scores[k] > scores[answer->label]) answer->label = k;
    ++k;
  }
  if (answer->probabilities)
    softmax(
        classes, [&](uint32_t c) { return scores[answer->label] - scores[c]; }, answer->probabilities);
  return BR_OK;
}

}  // namespace bitreplay
