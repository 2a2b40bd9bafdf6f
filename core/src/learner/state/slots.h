// A learner that is saved in two slots of non-volatile memory, and the functions that write and read its state.
#pragma once
#include "bitreplay_learner.h"

namespace bitreplay {

struct SavedLearner {
  void* learner;
  bool* past_is_gone;  // something was forgotten since the last save
  size_t (*bytes)(void* learner);
  int (*write)(void* learner, br_write* write, void* context);
  int (*read)(void* learner, br_read* read, void* context, size_t size);
  int (*verify)(void* learner, br_read* read, void* context, size_t size);  // whether `read` would accept it
};

int save(const SavedLearner& saved, const br_slots* slots);
int load(const SavedLearner& saved, const br_slots* slots);
int rollback(const SavedLearner& saved, const br_slots* slots);

}  // namespace bitreplay
