// The discriminant of what was learned, and what it answers.
//
//     m'_c = mu + f (m_c - mu),   f = n_c / (n_c + 8)
//     W'_c = f W_c,   b'_c = f (b_c + 1/2 (1 - f) (m_c - mu) . W_c)
//
// are docs/law.md section 13, "Shrunk means": engine/shrunk_means.py. Logits are discriminant_predictor.py's, the
// temperature is section 14's.
#include <cstring>

#include "arithmetic/fixedpoint.h"
#include "arithmetic/softmax.h"
#include "learner/exact/unknown.h"
#include "learner/fit.h"
#include "learner/state/settings.h"
#include "sums/check.h"
#include "sums/solve.h"

namespace bitreplay {
namespace {

constexpr int64_t kShrinkingPictures = 8, kRest = 16;
constexpr int64_t kFar = int64_t(32) << kLogitPoint;  // a logit so far below the best has a probability of 0
constexpr int64_t kReach = kFar << 10;                // as far, before the temperature divides it

int64_t drawn(int64_t value, int64_t count) {
  return value - divide_round(kShrinkingPictures * value, count + kShrinkingPictures);
}

// |whole| < 2^8, |rest| <= 2^15, |weights| <= 2^30, 2^13 features: sums below 2^51 and 2^58.
void shrink_means(br_learner* l) {
  const br_sums& s = l->sums;
  const int64_t features = l->features, pictures = pictures_of(*l);
  int32_t* const centre = reinterpret_cast<int32_t*>(l->use_work());  // over the factor, not its ridges
  for (int64_t i = 0; i < features; ++i) {
    int64_t sum = 0;
    for (int64_t c = 0; c < s.classes; ++c) sum += sum_at(s.class_sums, s.bits, c * features + i);
    centre[i] = int32_t(divide_round(sum, pictures));
  }
  for (int64_t c = 0; c < s.classes; ++c) {
    const int64_t count = s.counts[c];
    int32_t* const weights = l->solution.weights + c * features;
    int64_t whole = 0, rest = 0;
    for (int64_t i = 0; i < features; ++i) {
      const int64_t away = sum_at(s.class_sums, s.bits, c * features + i) - count * centre[i];
      const int64_t steps = divide_round(away, count);
      whole += weights[i] * steps;
      rest += weights[i] * divide_round(left(away - steps * count, kRest), count);
    }
    const int64_t apart = whole + round_shift(rest, kRest);
    int64_t& bias = l->solution.biases[c];
    bias = drawn(bias + divide_round(kShrinkingPictures * apart, 2 * (count + kShrinkingPictures)), count);
    for (int64_t i = 0; i < features; ++i) weights[i] = int32_t(drawn(weights[i], count));
  }
}

// Scores to logits: times pictures 2^(exponent + 16), as a mantissa of 31 bits and a shift; scores are cut at `reach`.
struct Logits {
  int64_t reach, drop, mantissa, shift, temperature;

  Logits(const br_solution& solution, int64_t divisor) : temperature(divisor) {
    const int64_t unit = solution.pictures, bits = bit_length(unit), point = solution.exponent + kLogitPoint;
    // REACH / unit is 2^k / pictures.
    const int64_t k = bit_length(kReach) - 1 - point;
    int64_t length;
    if (k <= 62) {
      reach = k < 0 ? 1 : (int64_t(1) << k) / unit + 1;
      length = bit_length(reach);
    } else {  // pictures < 2^31: one more makes it longer only where it is a power of two
      length = k - bits + 1 + ((unit & (unit - 1)) == 0);
      reach = length > 62 ? int64_t(1) << 62 : wide_reach(k, unit);
    }
    drop = max_of(length - 31, 0);
    mantissa = left(unit, 31 - bits);
    shift = 31 - bits - point - drop;
  }

  // 2^k / unit + 1 for k above 62, where it is below 2^62: long division by bits.
  static int64_t wide_reach(int64_t k, int64_t unit) {
    int64_t quotient = 0, rest = 1;
    for (int64_t i = 0; i < k; ++i) {
      rest *= 2;
      quotient = 2 * quotient + (rest >= unit);
      if (rest >= unit) rest -= unit;
    }
    return quotient + 1;
  }

  int64_t operator()(int64_t below) const {
    const int64_t plain = round_shift(mul(min_of(below, reach) >> drop, mantissa), shift);
    return -min_of(divide_round(left(plain, kLogitPoint), temperature), kFar);
  }
};

void fill_probabilities(const br_learner& l, const int64_t* scores, int64_t best, int32_t* probabilities) {
  const Logits logit(l.solution, l.ood.temperature);
  const uint32_t classes = l.solution.classes;
  const auto weight = [&](uint32_t c) { return exp_minus(-logit(sub(best, scores[c]))); };
  int64_t total = 0;
  for (uint32_t c = 0; c < classes; ++c) total += weight(c);
  for (uint32_t c = 0; c < classes; ++c)
    probabilities[c] = int32_t(((weight(c) << kProbabilityPoint) + (total >> 1)) / total);
}

}  // namespace
}  // namespace bitreplay

using namespace bitreplay;

int br_learner_ready(br_learner* l) {
  if (!l) return BR_BAD_ARGUMENT;
  if (l->ready) return BR_OK;
  if (!l->sums.classes) return BR_NOTHING_LEARNED;
  for (uint32_t p = 0; p < l->part_count; ++p)
    br_sums_shrinkage(pictures_of(*l), l->features, &l->parts[p].top, &l->parts[p].bottom);
  if (const int failed = solve(l)) return failed;
  shrink_means(l);
  if (const int failed = expect_at_once(l)) return failed;
  l->ready = true;
  return BR_OK;
}

int br_learner_extract(br_learner* l, const br_picture* picture, int8_t* x) {
  if (!l || !x || !is_picture(picture)) return BR_BAD_ARGUMENT;
  const br_run_args one = {.seed = 0, .step = 0, .samples = 1, .rate_mantissa = 0, .rate_shift = 0};
  if (!l->arena_is_clean) {
    memset(l->work, 0, br_program_arena_bytes(l->program));
    if (const int failed = br_run(l->program, BR_PREPARE, l->parameters, l->work, &one)) return failed;
    l->arena_is_clean = true;
  }
  fit(*picture, l->side, l->work + l->images_at);
  if (const int failed = br_run(l->program, BR_FORWARD, l->parameters, l->work, &one)) return failed;
  memcpy(x, l->work + l->features_at, l->features);
  return BR_OK;
}

int br_predict_features(br_learner* l, const int8_t* x, br_answer* answer) {
  if (!l || !x || !answer || answer->share > kLargestShare) return BR_BAD_ARGUMENT;
  if (const int failed = br_learner_ready(l)) return failed;
  int64_t* const scores = answer->scores ? answer->scores : l->scores;
  if (const int failed = br_sums_scores(&l->solution, x, 1, scores)) return failed;
  answer->label = 0;
  for (uint32_t c = 1; c < l->solution.classes; ++c)
    if (scores[c] > scores[answer->label]) answer->label = c;
  const int64_t best = scores[answer->label];
  answer->unknown = 0;
  if (answer->share)
    if (const int failed = is_unknown(l, x, best, answer->share, &answer->unknown)) return failed;
  if (!answer->probabilities) return BR_OK;
  if (const int failed = expect(l)) return failed;
  fill_probabilities(*l, scores, best, answer->probabilities);
  return BR_OK;
}

int br_predict(br_learner* l, const br_picture* picture, br_answer* answer) {
  if (!l || !answer) return BR_BAD_ARGUMENT;
  if (const int failed = br_learner_ready(l)) return failed;
  if (const int failed = br_learner_extract(l, picture, l->x)) return failed;
  return br_predict_features(l, l->x, answer);
}

uint32_t br_learner_share(const br_learner* l) { return l ? unknown_share({l->settings, l->settings_size}) : 0; }
