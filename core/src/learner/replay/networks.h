// The tensors of a replay model's networks. The model comes from outside: what does not have the expected tensors,
// types and shapes is refused. Functions that return text return null, or what is wrong with the model.
#pragma once
#include "learner/replay/learner.h"

namespace bitreplay {

// The backbone's images and latents.
const char* describe_backbone(ReplayLearner* l);
// The open tail's latents, labels, logits and head, which must have room for so many classes.
const char* describe_tail(ReplayLearner* l, uint32_t room);
// Counts the tensors of the tail that learn; lists their numbers, by name, if `l->tensors` is not null.
const char* list_tensors(ReplayLearner* l);

// The parameters of the open tail except for the head's rows: equal for all tails of a model.
struct ParameterShape {
  uint32_t count;
  uint64_t digest;
};
ParameterShape parameter_shape(const ReplayLearner& l);

}  // namespace bitreplay
