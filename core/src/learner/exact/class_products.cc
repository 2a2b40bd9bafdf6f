#include "learner/exact/class_products.h"

#include "arithmetic/fixedpoint.h"
#include "sums/check.h"

namespace bitreplay {

uint8_t* class_products_at(const ExactLearner& l, uint32_t row) {
  return l.class_products + size_t(row) * (l.sums.bits / 8) * size_t(triangle(l.features));
}

void change_class_products(ExactLearner* l, const int8_t* x, uint32_t row, int sign) {
  if (!l->class_products) return;
  uint8_t* const own = class_products_at(*l, row);
  for (int64_t i = 0, at = 0; i < l->features; ++i)
    for (int64_t j = 0; j <= i; ++j, ++at) change_sum(own, l->sums.bits, at, sign * int64_t(x[i]) * x[j]);
}

bool are_class_products(const ExactLearner& l, uint32_t row, void* work) {
  if (!l.class_products) return true;
  br_sums one = l.sums;
  one.classes = 1;
  one.counts = l.sums.counts + row;
  one.class_sums = static_cast<uint8_t*>(l.sums.class_sums) + size_t(l.sums.bits / 8) * row * l.features;
  one.products = class_products_at(l, row);
  return br_sums_possible(&one, 0, work) == BR_OK;
}

void change_all_products(ExactLearner* l, uint32_t row, int sign) {
  const uint8_t* const own = class_products_at(*l, row);
  for (int64_t at = 0; at < triangle(l->features); ++at)
    change_sum(l->sums.products, l->sums.bits, at, sign * sum_at(own, l->sums.bits, at));
}

}  // namespace bitreplay
