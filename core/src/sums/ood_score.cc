// Which pictures are "unknown": docs/law.md section 14. engine/ood.py, `ood_score` and `limit`, is the reference.
#include "bitreplay_discriminant.h"
#include "sums/scaled.h"

namespace bitreplay {
namespace {

// Of known pictures, in percent, this many have more than so many thousandths of D.
constexpr int64_t kCurve[][2] = {{1, 209}, {2, 189}, {5, 166}, {10, 148}, {20, 125}, {30, 109}, {50, 84}};
constexpr int kPoints = sizeof kCurve / sizeof *kCurve;

int64_t start_of(int k) { return divide_round(left(kCurve[k][0], kUnseenPoint), 100); }
int64_t part_of(int k) { return divide_round(left(kCurve[k][1], kUnseenPoint), 1000); }

}  // namespace
}  // namespace bitreplay

using namespace bitreplay;

int br_sums_ood_score(const br_solution* solution, const br_factor* factor, const br_ood* ood, const int8_t* x,
                      int64_t best, int16_t* away, void* work, int64_t* score) {
  if (!solution || !factor || !factor->centre || !ood || !ood->weights || !x || !away || !score) return BR_BAD_ARGUMENT;
  if (factor->features != solution->features) return BR_BAD_ARGUMENT;
  for (uint32_t i = 0; i < factor->features; ++i) away[i] = int16_t(x[i] - factor->centre[i]);
  int64_t squares, middle, bias = ood->bias;
  int32_t exponent;
  if (const int failed = br_sums_mahalanobis(factor, away, 1, work, &squares, &exponent)) return failed;
  br_solution alone = *solution;
  alone.weights = ood->weights;
  alone.biases = &bias;
  alone.classes = 1;
  if (const int failed = br_sums_scores(&alone, x, 1, &middle)) return failed;
  // |best|, |middle| < 2^54.
  const int64_t less = scaled(4 * best - 3 * middle, solution->pictures, solution->exponent - 2);
  *score = round_shift(scaled(squares, factor->pictures, exponent + factor->point), 3) - less;
  return BR_OK;
}

int64_t br_ood_threshold(const br_ood* ood, uint32_t share) {
  int at = 0;
  while (at < kPoints && int64_t(share) >= start_of(at)) ++at;
  int64_t part = part_of(max_of(at - 1, 0));
  if (at > 0 && at < kPoints)
    part += divide_round((part_of(at) - part) * (share - start_of(at - 1)), start_of(at) - start_of(at - 1));
  return round_shift(ood->expected * part, kUnseenPoint);  // < 2^37 2^14
}
