// The products of each class, a row each, which add up to those of all: with the setting `exact_forget` alone, so that
// a class can be taken out exactly. parts/class_statistics.py, `by_class`. Without the setting nothing happens here.
#pragma once
#include "learner/exact/learner.h"

namespace bitreplay {

uint8_t* class_products_at(const br_learner& learner, uint32_t row);
// Adds a picture's products to its class (sign 1), or takes them out (-1).
void change_class_products(br_learner* learner, const int8_t* x, uint32_t row, int sign);
// Whether they can be those of a class's pictures; of none, if it has none. `work` holds 8 bytes a number.
bool are_class_products(const br_learner& learner, uint32_t row, void* work);
// Adds a class's products to those of all, or takes them out.
void change_all_products(br_learner* learner, uint32_t row, int sign);

}  // namespace bitreplay
