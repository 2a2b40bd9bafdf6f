// The learner in the caller's memory: a network, sums of pictures, their discriminant. What is in which file:
//
//     open.cc          memory, and where everything lies in it
//     change.cc        learning, unlearning, forgetting, renaming
//     rows.cc          classes that come and go, and the width of the sums
//     digests.cc       what the setting digests keeps in addition
//     answer.cc        features of pictures, and what the discriminant answers
//     state_write.cc   hash and bytes of a state
//     state_check.cc   parses and checks a state file
//     state_read.cc    replaces what was learned by a state          state_merge.cc  other states added, or taken out
#pragma once
#include <cstring>

#include "bitreplay_discriminant.h"
#include "learner/exact/digests.h"
#include "learner/exact/functions.h"
#include "learner/exact/lineage.h"
#include "learner/names.h"
#include "learner/state/sha256.h"
#include "sums/bump_allocator.h"

namespace bitreplay {

constexpr uint32_t kMaxParts = 32;
constexpr uint32_t kBroughtAtOnce = 512;  // images whose names go into the experience's digest at once

// What a state has besides its arrays.
struct Known {
  Names names;
  Lineage lineage;
  int64_t forgotten, experiences;
};

struct ExactLearner : br_learner {
  // the network
  br_program* program;
  uint8_t* parameters;
  size_t images_at, features_at;  // in the arena
  uint32_t features, part_count;
  br_sums_part parts[kMaxParts];

  // the state: `sums` has a row for each name, and room for `options.classes`
  Known known;
  br_sums sums;
  bool keeps_digests, keeps_class_products;
  Digests digests;  // values are null without them

  // an experience
  bool learning;
  int64_t brought;  // pictures of this experience
  Sha256 experience;
  uint16_t* labels;  // [kBroughtAtOnce] rows of the images whose names the digest has yet to get

  // answers
  bool ready;
  br_discriminant discriminant;
  uint8_t* answer_memory;  // as much as answers need that leave the arena alone
  int8_t* encoded;         // [features] of one image

  // shared, one use at a time
  uint8_t* work;
  size_t work_bytes;
  bool arena_is_clean;

  // The work memory for anything but the network.
  uint8_t* use_work() {
    arena_is_clean = false;
    return work;
  }
};

// rows.cc
// Makes the state that of a new learner, except for the number of experiences.
void leave_nothing(ExactLearner* learner);
void clear(ExactLearner* learner);
int64_t pictures_of(const ExactLearner& learner);
// The number of images in all rows before this one.
int64_t first_of(const ExactLearner& learner, uint32_t row);
// br_sums_extent: the number of images if nothing was forgotten.
int64_t extent_of(const ExactLearner& learner);
// Whether there is room for sums of this extent and for the digests of this number of images.
bool has_room_for(const ExactLearner& learner, int64_t extent, int64_t pictures);
// Stores the sums with the width that belongs to this extent.
void set_width(ExactLearner* learner, int64_t extent);
// The row of a class, which is added if there is none: BR_FULL, BR_BAD_ARGUMENT.
int row_of(ExactLearner* learner, const br_name& name, uint32_t* row);
void erase_row(ExactLearner* learner, uint32_t row);
void move_row(ExactLearner* learner, uint32_t from, uint32_t to);
bool has_no_products(const ExactLearner& learner);
// Whether images with these sums can exist: br_sums_possible.
bool are_possible(const ExactLearner& learner, void* work);
// Whether the sums have a factor; uses all of the work memory.
bool have_factor(ExactLearner* learner);

}  // namespace bitreplay
