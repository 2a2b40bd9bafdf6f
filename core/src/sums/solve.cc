// The discriminant of sums: checks, the order of the steps, means about the centre, weights and biases.
#include "sums/bump_allocator.h"
#include "sums/possible.h"
#include "sums/scatter.h"

namespace bitreplay {

namespace {

// Where the pieces of `work` lie; their size if there is none.
uint64_t place(Solving& s, uint8_t* work, int64_t features, int64_t classes) {
  BumpAllocator allocator(work);
  const int64_t tables = 2 * 4 * int64_t(sizeof(int32_t)) * min_of(classes, kClasses) * features;
  const int64_t rows = int64_t(sizeof(int64_t)) * kRows * features;
  s.matrix = allocator.next<uint8_t>(size_t(8 * triangle(features)));
  s.shared = allocator.next<uint8_t>(size_t(max_of(tables, rows)));
  s.means = allocator.next<int64_t>(size_t(features));
  s.rest = allocator.next<int64_t>(size_t(features));
  s.fine = allocator.next<int64_t>(size_t(features));
  s.places = allocator.next<int64_t>(size_t(classes));
  s.low = allocator.next<int32_t>(size_t(classes * features));
  s.centre = allocator.next<int32_t>(size_t(features));
  s.halves = allocator.next<int32_t>(size_t(features));
  return allocator.used();
}

constexpr int64_t kCentreBits = 16, kAbsent = -(int64_t(1) << 62);

// Whether no accumulator overflows.
bool possible(const br_sums* sums, int64_t extent) {
  const int64_t features = sums->features;
  if (extent > (sums->bits == 32 ? kNarrowPictures : kMaxPictures)) return false;  // which bounds every product
  for (int64_t c = 0; c < sums->classes; ++c)
    for (int64_t i = 0; i < features; ++i)
      if (!is_within(sum_at(sums->class_sums, sums->bits, c * features + i), kLargestNumber * sums->counts[c]))
        return false;
  for (int64_t i = 0; i < features; ++i)
    if (sum_at(sums->products, sums->bits, triangle(i) + i) < 0) return false;
  return true;
}

bool are_valid(const br_sums_part* parts, uint32_t part_count, const br_shrinkage& shrinkage, int64_t features,
               int64_t pictures) {
  int64_t rest = features;
  for (uint32_t p = 0; p < part_count; ++p) {
    const br_sums_part part = with_lambda(parts[p], shrinkage, pictures, features);
    if (part.length < 1 || part.length > rest) return false;
    rest -= part.length;
    if (part.top < 1 || part.bottom < 1 || part.top > ((int64_t(1) << 62) - 1) / part.bottom) return false;
    if ((part.top + 7) / 8 > part.bottom || (part.bottom + 1023) / 1024 > part.top) return false;
  }
  return rest == 0;
}

// s / n, whole and 2^bits times the rest.
struct Mean {
  int64_t whole, part;
};
Mean mean_of(int64_t sum, int64_t count, int64_t bits) {
  const int64_t whole = divide_round(sum, count);
  return {whole, divide_round(left(sum - whole * count, bits), count)};
}

// All weights to one number of bits behind the point, which is returned; `weights` holds the high parts.
int64_t common_scale(const Solving& s, int32_t* weights) {
  const int64_t none = int64_t(1) << 40;
  int64_t point = none;
  for (int64_t c = 0; c < s.sums->classes; ++c)
    for (int64_t i = 0; i < s.features && s.sums->counts[c]; ++i) {
      const int64_t w = left(weights[c * s.features + i], kLow) + s.low[c * s.features + i];
      if (w) point = min_of(point, s.places[c] + s.halves[i] + kOne - bit_length(w));
    }
  if (point == none) point = 0;
  for (int64_t c = 0; c < s.sums->classes; ++c)
    for (int64_t i = 0; i < s.features && s.sums->counts[c]; ++i) {
      int32_t& weight = weights[c * s.features + i];
      weight = int32_t(round_shift(left(weight, kLow) + s.low[c * s.features + i], s.places[c] + s.halves[i] - point));
    }
  return point;
}

int64_t bias(const Solving& s, int64_t c, const int32_t* weights) {
  const int64_t count = s.sums->counts[c];
  int64_t whole = 0, part = 0;
  for (int64_t i = 0; i < s.features; ++i) {
    const Mean mean = mean_of(s.class_sum(c, i) + count * s.centre[i], count, kCentreBits);
    whole += weights[i] * mean.whole;
    part += weights[i] * mean.part;
  }
  return -round_shift(whole + round_shift(part, kCentreBits), 1);
}

// Everything up to the factor, and the middle of all pictures.
int begin(Solving& s, const br_sums* sums, const br_sums_part* parts, uint32_t part_count,
          const br_shrinkage& shrinkage, void* work, int64_t* ridges) {
  const Kernels* kernels = chosen_kernels();
  const int64_t pictures = checked_pictures(sums);
  if (!kernels) return BR_UNKNOWN_ISA;
  if (pictures < 1 || !parts || !work) return BR_BAD_ARGUMENT;
  const int64_t extent = br_sums_extent(sums);
  if (!is_valid(shrinkage) || !are_valid(parts, part_count, shrinkage, sums->features, pictures) ||
      !possible(sums, extent))
    return BR_BAD_ARGUMENT;
  if (reinterpret_cast<uintptr_t>(work) % 64) return BR_MISALIGNED;
  s = solving_in(work, *kernels, sums->features, sums->classes, pictures, extent);
  s.sums = sums;
  s.ridges = ridges;
  scatter(s);
  shrink(s, parts, part_count, shrinkage);
  s.dropped_features = factor(s);
  for (int64_t i = 0; i < s.features; ++i) {
    int64_t sum = 0;
    for (int64_t c = 0; c < sums->classes; ++c) sum += s.class_sum(c, i);
    s.centre[i] = int32_t(divide_round(sum, pictures));
  }
  return BR_OK;
}

// Weights and biases of every class, once the factor is there.
void find(Solving& s, br_solution* solution) {
  for (int64_t c = 0; c < s.sums->classes; ++c) {
    int32_t* weights = solution->weights + c * s.features;
    const int64_t count = s.sums->counts[c];
    if (!count) memset(weights, 0, size_t(s.features) * sizeof *weights);
    if (!count) continue;
    for (int64_t i = 0; i < s.features; ++i) {
      const Mean mean = mean_of(s.class_sum(c, i) - count * s.centre[i], count, kMeanBits);
      s.means[i] = mean.whole * (int64_t(1) << kMeanBits) + mean.part;
    }
    s.places[c] = substitute(s, weights, s.low + c * s.features);
  }
  solution->exponent = int32_t(s.point - common_scale(s, solution->weights));
  for (int64_t c = 0; c < s.sums->classes; ++c)
    solution->biases[c] = s.sums->counts[c] ? bias(s, c, solution->weights + c * s.features) : kAbsent;
  solution->features = s.sums->features;
  solution->classes = s.sums->classes;
  solution->pictures = s.pictures;
  solution->dropped_features = s.dropped_features;
}

void fill_factor(const Solving& s, br_factor* factor) {
  factor->rows = s.row(0);
  factor->halves = s.halves;
  factor->centre = s.centre;
  factor->features = s.sums->features;
  factor->pictures = s.pictures;
  factor->point = int32_t(s.point);
  factor->dropped_features = s.dropped_features;
}

}  // namespace

Solving solving_in(void* work, const Kernels& kernels, int64_t features, int64_t classes, int64_t pictures,
                   int64_t extent) {
  Solving s = {};
  s.kernels = &kernels.sums;
  s.features = features;
  s.pictures = pictures;
  s.point = point_of(extent);
  place(s, static_cast<uint8_t*>(work), features, classes);
  return s;
}

int solve(const br_sums* sums, const br_sums_part* parts, uint32_t part_count, const br_shrinkage& shrinkage,
          void* work, br_solution* solution, br_factor* factor) {
  if (solution && (!solution->weights || !solution->biases)) return BR_BAD_ARGUMENT;
  if (factor && !factor->ridges) return BR_BAD_ARGUMENT;
  Solving s = {};
  int64_t* const ridges = factor ? factor->ridges : nullptr;
  if (const int failed = begin(s, sums, parts, part_count, shrinkage, work, ridges)) return failed;
  if (solution) find(s, solution);
  if (factor) fill_factor(s, factor);
  return BR_OK;
}

}  // namespace bitreplay

using namespace bitreplay;

int br_sums_shrinkage(const br_shrinkage* shrinkage, int64_t pictures, int64_t features, int64_t* top,
                      int64_t* bottom) {
  const br_shrinkage s = or_default(shrinkage);
  if (!is_valid(s) || !top || !bottom) return BR_BAD_ARGUMENT;
  const int64_t share = s.top * features, whole = s.bottom * pictures;  // lambda = share / whole within its bounds
  const bool all = share >= s.cap * whole, is_smallest = 1024 * share < whole;
  *top = all ? s.cap : is_smallest ? 1 : share;
  *bottom = all ? 1 : is_smallest ? 1024 : whole;
  return BR_OK;
}

uint64_t br_sums_solve_bytes(uint32_t features, uint32_t classes) {
  Solving nothing = {};
  return place(nothing, nullptr, features, classes);
}

int br_sums_solve(const br_sums* sums, const br_sums_part* parts, uint32_t part_count, void* work,
                  br_solution* solution) {
  return solution ? solve(sums, parts, part_count, kDefaultShrinkage, work, solution, nullptr) : BR_BAD_ARGUMENT;
}

int br_sums_scores(const br_solution* solution, const int8_t* x, uint64_t pictures, int64_t* scores) {
  const Kernels* kernels = chosen_kernels();
  if (!kernels) return BR_UNKNOWN_ISA;
  if (!solution || !solution->weights || !solution->biases || (pictures && (!x || !scores))) return BR_BAD_ARGUMENT;
  const int64_t features = solution->features, classes = solution->classes;
  for (int64_t k = 0; k < int64_t(pictures); ++k)
    for (int64_t c = 0; c < classes; ++c)
      scores[k * classes + c] =
          add(kernels->sums.score(solution->weights + c * features, x + k * features, features), solution->biases[c]);
  return BR_OK;
}
