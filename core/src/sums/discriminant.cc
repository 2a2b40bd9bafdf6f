// A discriminant in the caller's memory: weights and biases of shrunk means, the factor where it is kept, and what is
// expected of pictures that were not learned.
#include "sums/discriminant.h"

#include "sums/bump_allocator.h"
#include "sums/shrunk_means.h"

namespace bitreplay {

AnswerMemory::AnswerMemory(uint32_t features, uint32_t classes, BumpAllocator& allocator)
    : scores(allocator.next<int64_t>(classes)),
      lengths(allocator.next<uint8_t>(size_t(br_sums_mahalanobis_bytes(features)))),
      away(allocator.next<int16_t>(features)) {}

namespace {

struct SolveMemory {
  AnswerMemory answer;
  int64_t* ridges;
  uint8_t* solving;

  SolveMemory(uint32_t features, uint32_t classes, uint32_t part_count, BumpAllocator& allocator)
      : answer(features, classes, allocator), ridges(allocator.next<int64_t>(part_count)),
        solving(allocator.next<uint8_t>(size_t(br_sums_solve_bytes(features, classes)))) {}
};

SolveMemory memory_of(const br_discriminant& d, void* work) {
  BumpAllocator allocator(static_cast<uint8_t*>(work));
  return SolveMemory(d.sums->features, d.sums->classes, d.part_count, allocator);
}

// Copies a factor, except for its ridges, which lie where they are kept.
void keep(br_discriminant* d, const br_factor& source) {
  const auto copied = [](const int32_t* to, const int32_t* from, int64_t count) {
    memcpy(const_cast<int32_t*>(to), from, size_t(count) * sizeof *to);
    return to;
  };
  br_factor kept = source;
  kept.rows = copied(d->factor.rows, source.rows, triangle(source.features));
  kept.halves = copied(d->factor.halves, source.halves, source.features);
  kept.centre = copied(d->factor.centre, source.centre, source.features);
  d->factor = kept;
}

}  // namespace

int factor_of(br_discriminant* d, void* work, br_factor* factor) {
  const SolveMemory memory = memory_of(*d, work);
  const br_shrinkage shrinkage = or_default(&d->shrinkage);
  *factor = d->factor;
  if (!d->keeps_factor) {
    factor->ridges = memory.ridges;
    if (const int failed = solve(d->sums, d->parts, d->part_count, shrinkage, memory.solving, nullptr, factor))
      return failed;
  }
  if (d->is_expected) return BR_OK;
  if (const int failed = br_sums_ood(d->sums, &d->solution, factor, d->parts, d->part_count, &shrinkage,
                                     memory.answer.lengths, &d->ood))
    return failed;
  d->is_expected = 1;
  return BR_OK;
}

}  // namespace bitreplay

using namespace bitreplay;

uint64_t br_discriminant_place(br_discriminant* d, uint32_t features, uint32_t classes, void* memory) {
  BumpAllocator allocator(static_cast<uint8_t*>(memory));
  br_discriminant placed = d ? *d : br_discriminant{};
  placed.solution = {};
  placed.factor = {};
  placed.ood = {};
  placed.is_expected = 0;
  placed.solution.weights = allocator.next<int32_t>(size_t(classes) * features);
  placed.solution.biases = allocator.next<int64_t>(classes);
  placed.ood.weights = allocator.next<int32_t>(features);
  if (placed.keeps_factor) {
    placed.factor.rows = allocator.next<int32_t>(size_t(triangle(features)));
    placed.factor.halves = allocator.next<int32_t>(features);
    placed.factor.centre = allocator.next<int32_t>(features);
    placed.factor.ridges = allocator.next<int64_t>(placed.part_count);
  }
  if (d && memory) *d = placed;
  return allocator.used();
}

uint64_t br_discriminant_answer_bytes(uint32_t features, uint32_t classes) {
  BumpAllocator allocator(nullptr);
  AnswerMemory(features, classes, allocator);
  return allocator.used();
}

uint64_t br_discriminant_work_bytes(uint32_t features, uint32_t classes, uint32_t part_count) {
  BumpAllocator allocator(nullptr);
  SolveMemory(features, classes, part_count, allocator);
  return allocator.used();
}

int br_discriminant_solve(br_discriminant* d, void* work) {
  if (!d || checked_pictures(d->sums) < 1 || !d->solution.weights || !work) return BR_BAD_ARGUMENT;
  const SolveMemory memory = memory_of(*d, work);
  br_factor factor = {};
  factor.ridges = d->keeps_factor ? d->factor.ridges : memory.ridges;
  const br_shrinkage shrinkage = or_default(&d->shrinkage);
  if (const int failed = solve(d->sums, d->parts, d->part_count, shrinkage, memory.solving, &d->solution, &factor))
    return failed;
  shrink_means(*d->sums, factor.centre, shrinkage.pictures, &d->solution);
  if (d->keeps_factor) keep(d, factor);
  d->is_expected = 0;
  return BR_OK;
}

int br_discriminant_expect(br_discriminant* d, void* work) {
  if (!d || !d->solution.pictures || !work) return BR_BAD_ARGUMENT;
  br_factor factor;
  return d->is_expected ? BR_OK : factor_of(d, work, &factor);
}
