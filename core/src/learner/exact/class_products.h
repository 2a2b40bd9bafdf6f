// The sums of products per class, which add up to those of all classes, so that a class can be removed exactly:
// parts/class_statistics.py, `by_class`. Only with the setting `exact_forget`; without it these functions do nothing.
#pragma once
#include "learner/exact/learner.h"

namespace bitreplay {

uint8_t* class_products_at(const ExactLearner& learner, uint32_t row);
// Adds the products of an image to its class (sign 1), or subtracts them (-1).
void change_class_products(ExactLearner* learner, const int8_t* x, uint32_t row, int sign);
// Whether images of the class with these products can exist; all are 0 if it has no images. `work` holds 8 bytes per
// feature.
bool are_class_products(const ExactLearner& learner, uint32_t row, void* work);
// Adds the products of a class to those of all classes, or subtracts them.
void change_all_products(ExactLearner* learner, uint32_t row, int sign);

}  // namespace bitreplay
