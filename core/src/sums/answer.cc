// What a discriminant answers: the best class, its scores, probabilities, and whether the picture is unknown.
#include "arithmetic/softmax.h"
#include "sums/discriminant.h"
#include "sums/logits.h"

using namespace bitreplay;

namespace {

uint32_t best_of(const int64_t* scores, uint32_t classes) {
  uint32_t best = 0;
  for (uint32_t c = 1; c < classes; ++c)
    if (scores[c] > scores[best]) best = c;
  return best;
}

}  // namespace

int br_discriminant_answer(br_discriminant* d, const int8_t* x, uint64_t images, const br_answers* answers,
                           void* work) {
  if (!d || !d->solution.pictures || (images && !x) || !answers || !work) return BR_BAD_ARGUMENT;
  if (reinterpret_cast<uintptr_t>(work) % 64) return BR_MISALIGNED;
  const uint32_t features = d->solution.features, classes = d->solution.classes;
  BumpAllocator allocator(static_cast<uint8_t*>(work));
  const AnswerMemory memory(features, classes, allocator);
  br_factor factor = d->factor;
  if ((answers->unknown && !d->keeps_factor) || ((answers->unknown || answers->probabilities) && !d->is_expected))
    if (const int failed = factor_of(d, work, &factor)) return failed;
  const Logits logit(d->solution, d->is_expected ? d->ood.temperature : 1);
  for (uint64_t k = 0; k < images; ++k, x += features) {
    int64_t* const scores = answers->scores ? answers->scores + k * classes : memory.scores;
    if (const int failed = br_sums_scores(&d->solution, x, 1, scores)) return failed;
    const uint32_t label = best_of(scores, classes);
    if (answers->labels) answers->labels[k] = label;
    if (answers->probabilities)
      softmax(
          classes, [&](uint32_t c) { return logit(sub(scores[label], scores[c])); },
          answers->probabilities + k * classes);
    if (!answers->unknown) continue;
    int64_t score;
    if (const int failed =
            br_sums_ood_score(&d->solution, &factor, &d->ood, x, scores[label], memory.away, memory.lengths, &score))
      return failed;
    answers->unknown[k] = score > br_ood_threshold(&d->ood, answers->share);
  }
  return BR_OK;
}
