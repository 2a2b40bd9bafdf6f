// Lengths under the covariance, and what pictures that were not learned are expected to look like: docs/law.md section
// 14. engine/mahalanobis.py and engine/ood.py are the reference.
#include "arithmetic/counter.h"
#include "sums/scaled.h"
#include "sums/shrunk_means.h"
#include "sums/solve.h"

namespace bitreplay {
namespace {

constexpr int64_t kPoint = kUnseenPoint, kRatioPoint = 24, kProbesBits = 5;
constexpr int64_t kFine = 8, kLargestVector = 254;

struct Measure {
  Solving s;
  int32_t *high, *low;

  Measure(const br_factor& factor, const Kernels& kernels, void* work) : s() {
    s.kernels = &kernels.sums;
    s.features = factor.features;
    // Nobody writes through these.
    s.matrix = reinterpret_cast<uint8_t*>(const_cast<int32_t*>(factor.rows));
    s.halves = const_cast<int32_t*>(factor.halves);
    s.means = static_cast<int64_t*>(work);
    high = reinterpret_cast<int32_t*>(s.means + s.features);
    low = high + s.features;
  }

  // Of the vector in s.means, in integers.
  int64_t squares(int64_t* exponent) {
    for (int64_t i = 0; i < s.features; ++i) s.means[i] = left(s.means[i], kMeanBits);
    int64_t length;
    const int64_t top = top_of(s), room = forward_fitting(s, top, high, low, &length);
    *exponent = 2 * (top - room - kMeanBits);
    return length;
  }
};

// lambda D times the trace of A^-1 over features start to start + length.
int64_t unfitted(Measure& m, const br_factor& factor, uint32_t part, int64_t start, int64_t length) {
  int64_t sum = 0;
  for (uint64_t step = 0; step < uint64_t(1) << kProbesBits; ++step) {
    const uint64_t key = counter_key(0, step, part);
    memset(m.s.means, 0, size_t(m.s.features) * sizeof *m.s.means);
    for (int64_t i = start; i < start + length; ++i) m.s.means[i] = random_bits(key, uint32_t(i)) >> 31 ? 1 : -1;
    int64_t exponent;
    const int64_t squares = m.squares(&exponent);
    sum += min_of(scaled(squares, factor.ridges[part], exponent), left(length, kPoint));
  }
  return round_shift(sum, kProbesBits);
}

// The weights of the mean of all m'_c, as many times as they have pictures; its squared length about mu.
int64_t middle(const br_sums& sums, const br_solution& solution, const br_factor& factor, int64_t k, int32_t* weights) {
  int64_t length = 0;
  for (int64_t i = 0; i < sums.features; ++i) {
    int64_t weight = 0, away = 0;
    for (int64_t c = 0; c < sums.classes; ++c) {
      const int64_t count = sums.counts[c], sum = sum_at(sums.class_sums, sums.bits, c * sums.features + i);
      weight += solution.weights[c * sums.features + i] * count;
      away += drawn(left(sum - count * factor.centre[i], kFine), count, k);
    }
    weights[i] = int32_t(divide_round(weight, factor.pictures));
    length += weights[i] * divide_round(away, factor.pictures);
  }
  return round_shift(length, kFine);
}

// sum_c n_c |m'_c - mu|^2 / n less that of their mean; the solution's weights are drawn once already.
int64_t separation(const br_sums& sums, const br_solution& solution, const br_factor& factor, int64_t k,
                   int64_t middle_length) {
  int64_t total = 0;
  for (int64_t c = 0; c < sums.classes; ++c) {
    const int64_t count = sums.counts[c];
    if (!count) continue;
    total += count * saturate(scaled(drawn(apart(sums, solution, factor.centre, c), count, k), solution.pictures,
                                     solution.exponent),
                              0, kLimit);
  }
  return max_of(divide_round(total, factor.pictures) - scaled(middle_length, solution.pictures, solution.exponent), 0);
}

bool is_valid(const br_factor* factor, const void* work) {
  return factor && factor->rows && factor->halves && factor->features && factor->features <= kMaxFeatures && work;
}

}  // namespace
}  // namespace bitreplay

using namespace bitreplay;

uint64_t br_sums_mahalanobis_bytes(uint32_t features) { return 16 * uint64_t(features); }

int br_sums_mahalanobis(const br_factor* factor, const int16_t* y, uint64_t vectors, void* work, int64_t* squares,
                        int32_t* exponents) {
  const Kernels* kernels = chosen_kernels();
  if (!kernels) return BR_UNKNOWN_ISA;
  if (!is_valid(factor, work) || (vectors && (!y || !squares || !exponents))) return BR_BAD_ARGUMENT;
  if (reinterpret_cast<uintptr_t>(work) % 64) return BR_MISALIGNED;
  const int64_t features = factor->features;
  for (int64_t i = 0; i < int64_t(vectors) * features; ++i)
    if (y[i] > kLargestVector || y[i] < -kLargestVector) return BR_BAD_ARGUMENT;
  Measure m(*factor, *kernels, work);
  for (int64_t v = 0; v < int64_t(vectors); ++v) {
    for (int64_t i = 0; i < features; ++i) m.s.means[i] = y[v * features + i];
    int64_t exponent;
    squares[v] = m.squares(&exponent);
    exponents[v] = int32_t(exponent);
  }
  return BR_OK;
}

int br_sums_ood(const br_sums* sums, const br_solution* solution, const br_factor* factor, const br_sums_part* parts,
                uint32_t part_count, const br_shrinkage* shrinkage, void* work, br_ood* ood) {
  const Kernels* kernels = chosen_kernels();
  if (!kernels) return BR_UNKNOWN_ISA;
  if (!is_valid(factor, work) || !factor->ridges || !factor->centre || !solution || !solution->weights || !parts)
    return BR_BAD_ARGUMENT;
  const br_shrinkage constants = or_default(shrinkage);
  const int64_t k = constants.pictures;
  if (!ood || !ood->weights || !is_valid(constants)) return BR_BAD_ARGUMENT;
  if (checked_pictures(sums) != factor->pictures || sums->features != factor->features) return BR_BAD_ARGUMENT;
  if (reinterpret_cast<uintptr_t>(work) % 64) return BR_MISALIGNED;
  Measure m(*factor, *kernels, work);
  int64_t start = 0, rest = 0;
  for (uint32_t p = 0; p < part_count; start += parts[p++].length) {
    if (parts[p].length < 1 || parts[p].length > m.s.features - start) return BR_BAD_ARGUMENT;
    rest += unfitted(m, *factor, p, start, parts[p].length);
  }
  const int64_t pictures = left(factor->pictures, kPoint);
  const int64_t max_fitted = pictures - (pictures >> 4), features = m.s.features - factor->dropped_features;
  ood->fitted = saturate(left(features, kPoint) - rest, 0, max_fitted);
  const int64_t down = max_of(bit_length(pictures) - 38, 0);
  ood->ratio = divide_round(left(pictures >> down, kRatioPoint), (pictures - ood->fitted) >> down);
  const int64_t once = round_shift(ood->fitted * ood->ratio, kRatioPoint);
  ood->expected = round_shift(once * ood->ratio, kRatioPoint);
  const int64_t length = middle(*sums, *solution, *factor, k, ood->weights);
  ood->bias = -divide_round(length, 2);
  for (int64_t i = 0; i < m.s.features; ++i) ood->bias -= int64_t(ood->weights[i]) * factor->centre[i];
  const int64_t apart = round_shift(separation(*sums, *solution, *factor, k, length) * ood->ratio, kRatioPoint);
  ood->temperature = max_of(root_below(left(9 * apart, kPoint - 4)), int64_t(1) << kPoint);  // < 2^54 under the root
  return BR_OK;
}
