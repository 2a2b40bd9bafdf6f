// The constants of shrinkage: docs/law.md section 13. engine/shrinkage.py is the reference.
#pragma once
#include "bitreplay.h"

namespace bitreplay {

constexpr br_shrinkage kDefaultShrinkage = {1, 1, 4, 8};

static inline br_shrinkage or_default(const br_shrinkage* shrinkage) {
  return shrinkage && (shrinkage->cap | shrinkage->top | shrinkage->bottom | shrinkage->pictures) ? *shrinkage
                                                                                                  : kDefaultShrinkage;
}

// lambda is at most 8, and 8 pictures times a bias below 2^60 fit 63 bits.
static inline bool is_valid(const br_shrinkage& s) {
  constexpr uint32_t largest = 8, largest_term = 64;
  return s.cap >= 1 && s.cap <= largest && s.top >= 1 && s.top <= largest_term && s.bottom >= 1 &&
         s.bottom <= largest_term && s.pictures >= 1 && s.pictures <= largest;
}

}  // namespace bitreplay
