// Features of pictures, and what the discriminant (sums/discriminant.cc) answers.
#include <cstring>

#include "learner/exact/learner.h"
#include "learner/fit.h"

namespace bitreplay {

int learner_ready(ExactLearner* l) {
  if (l->ready) return BR_OK;
  if (!l->sums.classes) return BR_NOTHING_LEARNED;
  br_discriminant* const d = &l->discriminant;
  if (const int failed = br_discriminant_solve(d, l->use_work())) return failed;
  if (d->keeps_factor)
    if (const int failed = br_discriminant_expect(d, l->answer_memory)) return failed;
  l->ready = true;
  return BR_OK;
}

int learner_encode(ExactLearner* l, const br_picture* picture, int8_t* x) {
  if (!x || !is_picture(picture)) return BR_BAD_ARGUMENT;
  if (!l->arena_is_clean) {
    memset(l->work, 0, br_program_arena_bytes(l->program));
    if (const int failed = br_run(l->program, BR_PREPARE, l->parameters, l->work, &kOneImage)) return failed;
    l->arena_is_clean = true;
  }
  fit(*picture, l->side, l->work + l->images_at);
  if (const int failed = br_run(l->program, BR_FORWARD, l->parameters, l->work, &kOneImage)) return failed;
  memcpy(x, l->work + l->features_at, l->features);
  return BR_OK;
}

int check_answer(ExactLearner* l, const br_answer* answer) {
  constexpr uint32_t largest_share = 1 << 16;
  return !answer || answer->share > largest_share ? BR_BAD_ARGUMENT : learner_ready(l);
}

int learner_predict_encoded(ExactLearner* l, const int8_t* x, br_answer* answer) {
  if (!x) return BR_BAD_ARGUMENT;
  if (const int failed = check_answer(l, answer)) return failed;
  const br_discriminant& d = l->discriminant;
  answer->unknown = 0;
  const br_answers wanted = {&answer->label, answer->scores, answer->probabilities,
                             answer->share ? &answer->unknown : nullptr, answer->share};
  const bool factors = !d.keeps_factor && (answer->share || (answer->probabilities && !d.is_expected));
  return br_discriminant_answer(&l->discriminant, x, 1, &wanted, factors ? l->use_work() : l->answer_memory);
}

}  // namespace bitreplay
