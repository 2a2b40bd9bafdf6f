// Whether the sums of a state that comes from outside have a factor (sums/has_factor.cc), before anything is taken from
// it.
//
// The matrix is made where a discriminant is made. Products are read once into it, then class after class its sums, so
// that neither is in memory a second time.
#include "learner/exact/state_check.h"
#include "sums/solve.h"

namespace bitreplay {
namespace {

// What a class with these sums has of the matrix: s_i q_j + q_i r_j + r_i v_j, docs/law.md section 13, "Scatter".
void take_out(const Solving& s, int64_t count, const int32_t* q, const int32_t* r, const int32_t* v) {
  for (int64_t i = 0, at = 0; i < s.features; ++i) {
    const int64_t sum = q[i] * count + r[i];
    for (int64_t j = 0; j <= i; ++j, ++at) {
      const int64_t whole = left(sum * q[j] + int64_t(q[i]) * r[j], s.point);
      s.set_number(at, sub(s.number(at), add(whole, int64_t(r[i]) * v[j])));
    }
  }
}

}  // namespace

int check_factor(ExactLearner* l, const ParsedState& parsed) {
  // Of what a forgotten class left nothing is known: sums/possible.h.
  if (parsed.known.forgotten || !parsed.pictures) return BR_OK;
  const Kernels* const kernels = chosen_kernels();
  if (!kernels) return BR_UNKNOWN_ISA;
  const uint32_t bits = parsed.shape.bits;
  Solving s = {};
  s.kernels = &kernels->sums;
  s.features = l->features;
  s.pictures = parsed.pictures;
  s.point = point_of(parsed.pictures);
  place(s, l->use_work(), s.features, 1);
  Input products = parsed.array(kProducts), counts = parsed.array(kCounts), sums = parsed.array(kClassSums);
  for (int64_t at = 0; at < triangle(s.features); ++at) {
    int64_t product;
    if (!element(products, bits, &product)) return BR_STORAGE;
    s.set_number(at, left(product, s.point));
  }
  int32_t *const q = static_cast<int32_t*>(s.shared), *const r = q + s.features, *const v = r + s.features;
  for (uint64_t c = 0; c < parsed.shape.classes; ++c) {
    int64_t count, sum;
    if (!counts.bytes(&count, 8)) return BR_STORAGE;
    if (count < 1 || count > kMaxPictures) return BR_STORAGE;  // the file has changed since it was checked
    for (int64_t i = 0; i < s.features; ++i) {
      if (!element(sums, bits, &sum)) return BR_STORAGE;
      q[i] = int32_t(divide_round(sum, count));
      r[i] = int32_t(sum - q[i] * count);
      v[i] = int32_t(divide_round(left(r[i], s.point), count));
    }
    take_out(s, count, q, r, v);
  }
  return has_factor(s) ? BR_OK : BR_IMPOSSIBLE;
}

}  // namespace bitreplay
