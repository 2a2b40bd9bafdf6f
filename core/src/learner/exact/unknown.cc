// Whether a picture is unlike those that were learned, and the temperature of probabilities: docs/law.md section 14.
//
// Both need the factor of the covariance. It is as large as the sums' products and is made in the work memory, which
// the next picture takes for the network. With the option `factor` it is the discriminant's own, kept beside; else
// every question makes it anew.
#include "learner/exact/unknown.h"

#include <cstring>

#include "arithmetic/fixedpoint.h"
#include "sums/check.h"

namespace bitreplay {
namespace {

struct Making {
  uint8_t* solving;
  int64_t* ridges;

  Making(const br_learner& l, BumpAllocator& allocator)
      : solving(allocator.next<uint8_t>(size_t(br_sums_solve_bytes(l.features, l.options.classes)))),
        ridges(allocator.next<int64_t>(l.part_count)) {}
};

struct OodMemory {
  uint8_t* lengths;
  int16_t* away;

  OodMemory(const br_learner& l, BumpAllocator& allocator)
      : lengths(allocator.next<uint8_t>(size_t(br_sums_mahalanobis_bytes(l.features)))),
        away(allocator.next<int16_t>(l.features)) {}
};

// rows, halves and centre, one after another.
void keep(br_learner* l, const br_factor& source) {
  if (!l->factor_rows) return;
  const size_t entries = size_t(triangle(l->features));
  int32_t *const halves = l->factor_rows + entries, *const centre = halves + l->features;
  memcpy(l->factor_rows, source.rows, entries * sizeof *source.rows);
  memcpy(halves, source.halves, l->features * sizeof *halves);
  memcpy(centre, source.centre, l->features * sizeof *centre);
  l->factor = source;
  l->factor.rows = l->factor_rows;
  l->factor.halves = halves;
  l->factor.centre = centre;
  l->factor.ridges = nullptr;
  l->factor_is_kept = true;
}

// `factor` has its ridges.
int fill_ood(br_learner* l, const br_factor& factor, const OodMemory& ood_memory) {
  if (const int failed =
          br_sums_ood(&l->sums, &l->solution, &factor, l->parts, l->part_count, ood_memory.lengths, &l->ood))
    return failed;
  l->is_expected = true;
  return BR_OK;
}

// In the work memory.
int make(br_learner* l, br_factor* factor, OodMemory* ood_memory) {
  BumpAllocator allocator(l->use_work());
  const Making making(*l, allocator);
  *ood_memory = OodMemory(*l, allocator);
  *factor = {};
  factor->ridges = making.ridges;
  if (const int failed = br_sums_factor(&l->sums, l->parts, l->part_count, making.solving, factor)) return failed;
  if (!l->is_expected)
    if (const int failed = fill_ood(l, *factor, *ood_memory)) return failed;
  keep(l, *factor);
  return BR_OK;
}

}  // namespace

void place_unknown(br_learner* l, BumpAllocator& allocator) {
  l->ood.weights = allocator.next<int32_t>(l->features);
  l->factor_rows = nullptr;
  if (!l->options.factor) return;
  l->factor_rows = allocator.next<int32_t>(size_t(triangle(l->features)) + 2 * size_t(l->features));
  l->ood_memory = allocator.next<uint8_t>(ood_memory_bytes(*l));
}

size_t ood_memory_bytes(const br_learner& l) {
  BumpAllocator allocator(nullptr);
  OodMemory(l, allocator);
  return allocator.used();
}

size_t making_bytes(const br_learner& l) {
  BumpAllocator allocator(nullptr);
  Making(l, allocator);
  return allocator.used() + ood_memory_bytes(l);
}

int solve(br_learner* l) {
  l->is_expected = l->factor_is_kept = false;
  if (!l->factor_rows) return br_sums_solve(&l->sums, l->parts, l->part_count, l->use_work(), &l->solution);
  BumpAllocator allocator(l->use_work());
  const Making making(*l, allocator);
  br_factor factor = {};
  factor.ridges = making.ridges;
  if (const int failed = br_sums_solve_factor(&l->sums, l->parts, l->part_count, making.solving, &l->solution, &factor))
    return failed;
  keep(l, factor);
  return BR_OK;
}

int expect_at_once(br_learner* l) {
  if (!l->factor_is_kept) return BR_OK;
  BumpAllocator allocator(l->work);
  const Making making(*l, allocator);
  const OodMemory ood_memory(*l, allocator);
  br_factor factor = l->factor;
  factor.ridges = making.ridges;
  return fill_ood(l, factor, ood_memory);
}

int expect(br_learner* l) {
  if (l->is_expected) return BR_OK;
  br_factor factor;
  BumpAllocator nowhere(nullptr);
  OodMemory ood_memory(*l, nowhere);
  return make(l, &factor, &ood_memory);
}

int is_unknown(br_learner* l, const int8_t* x, int64_t best, uint32_t share, uint32_t* unknown) {
  br_factor factor = l->factor;
  BumpAllocator allocator(l->ood_memory);
  OodMemory ood_memory(*l, allocator);
  if (!l->factor_is_kept) {
    if (const int failed = make(l, &factor, &ood_memory)) return failed;
  }
  int64_t score;
  if (const int failed =
          br_sums_ood_score(&l->solution, &factor, &l->ood, x, best, ood_memory.away, ood_memory.lengths, &score))
    return failed;
  *unknown = score > br_ood_threshold(&l->ood, share);
  return BR_OK;
}

}  // namespace bitreplay
