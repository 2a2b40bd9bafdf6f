#include "learner/replay/networks.h"

#include <cstring>

#include "machine/program.h"

namespace bitreplay {
namespace {

constexpr uint32_t kMaxWords = 1 << 24, kMaxTensors = 1 << 14;

bool is_tensor(const br_tensor_info& info, uint32_t dtype, uint32_t dimensions) {
  return info.dtype == dtype && info.region == BR_ARENA && info.per_sample && info.dimensions == dimensions;
}

bool is_plain(const char* name) {
  for (; *name; ++name)
    if (*name < 33 || *name > 126 || *name == '"' || *name == '\\') return false;
  return true;
}

bool ends_with(const char* name, const char* end) {
  const size_t size = strlen(name), own = strlen(end);
  return size > own && !strcmp(name + size - own, end);
}

}  // namespace

const char* describe_backbone(ReplayLearner* l) {
  br_tensor_info images, codes;
  if (br_program_tensor(l->backbone, "images", &images) || br_program_tensor(l->backbone, "latents", &codes))
    return "the model's backbone has no images or no latents";
  if (!is_tensor(images, BR_UINT8, 3) || images.shape[0] != images.shape[1] || images.shape[2] != 3)
    return "the model's backbone does not take square RGB images";
  if (!is_tensor(codes, BR_UINT64, 3)) return "the model's backbone does not produce latents";
  const uint64_t pixels = uint64_t(codes.shape[0]) * codes.shape[1];
  if (pixels > kMaxWords || codes.shape[2] > kMaxWords || pixels * codes.shape[2] > kMaxWords)
    return "the model's latents are too large";
  for (int axis = 0; axis < 3; ++axis) l->code_shape[axis] = codes.shape[axis];
  l->words = uint32_t(pixels * codes.shape[2]);
  l->side = images.shape[0];
  l->images_at = size_t(images.offset);
  l->codes_at = size_t(codes.offset);
  return l->words ? nullptr : "the model's latents are empty";
}

const char* describe_tail(ReplayLearner* l, uint32_t room) {
  TailPlaces& at = l->at;
  br_tensor_info codes, labels, logits;
  if (br_program_tensor(l->tail, "latents", &codes) || br_program_tensor(l->tail, "labels", &labels) ||
      br_program_tensor(l->tail, "logits", &logits))
    return "the model's tail has no latents, no labels or no logits";
  if (!is_tensor(codes, BR_UINT64, 3) || memcmp(codes.shape, l->code_shape, sizeof l->code_shape))
    return "the latents of the model's tail and backbone differ";
  if (!is_tensor(labels, BR_INT32, labels.dimensions) || labels.shape[0] != 1 || labels.shape[1] != 1)
    return "the labels of the model's tail have the wrong type or shape";
  if (logits.dtype != BR_INT32 || logits.region != BR_ARENA || !logits.per_sample || logits.shape[0] != room ||
      logits.shape[1] != 1 || logits.shape[2] != 1 || logits.shape[3] != 1)
    return "the logits of the model's tail have the wrong type or shape";
  if (br_program_max_samples(l->tail) < uint64_t(l->method.batch_size) + l->method.replay_batch_size)
    return "the model's tail takes fewer samples than a minibatch has";
  const br_tensor_info *weights = nullptr, *active = nullptr;
  for (uint32_t i = 0; i < l->tail->tensor_count; ++i) {
    const Tensor& t = l->tail->tensors[i];
    if (t.info.region != BR_PARAMETER || !ends_with(t.name, ".active")) continue;
    active = &t.info;
    const size_t stem = strlen(t.name) - strlen("active");
    for (uint32_t j = 0; j < l->tail->tensor_count; ++j) {
      const Tensor& other = l->tail->tensors[j];
      if (other.info.region == BR_PARAMETER && !strncmp(other.name, t.name, stem) &&
          !strcmp(other.name + stem, "weights"))
        weights = &other.info;
    }
  }
  if (!weights || !active || active->dtype != BR_UINT8 || weights->dtype != BR_INT32 || active->dimensions != 1 ||
      weights->dimensions != 2 || active->shape[0] != room || weights->shape[0] != room || !weights->shape[1] ||
      weights->per_sample || active->per_sample)
    return "the model's tail has no head for this number of classes";
  at = {size_t(codes.offset),    size_t(labels.offset),  size_t(logits.offset),
        size_t(weights->offset), size_t(active->offset), room,
        weights->shape[1]};
  return nullptr;
}

const char* list_tensors(ReplayLearner* l) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < l->tail->tensor_count; ++i) {
    const Tensor& t = l->tail->tensors[i];
    if (t.info.region != BR_PARAMETER) continue;
    if (!is_plain(t.name) || t.info.per_sample || t.info.dtype == BR_UINT32 || !t.info.dimensions || i > UINT16_MAX ||
        count == kMaxTensors)
      return "the model's tail has a parameter that state files cannot hold";
    if (l->tensors) {
      uint32_t at = count;
      for (; at && strcmp(l->tail->tensors[l->tensors[at - 1]].name, t.name) > 0; --at)
        l->tensors[at] = l->tensors[at - 1];
      l->tensors[at] = uint16_t(i);
    }
    ++count;
  }
  l->tensor_count = count;
  return nullptr;
}

ParameterShape parameter_shape(const ReplayLearner& l) {
  ParameterShape shape = {0, 14695981039346656037u};
  const auto mix = [&](const void* bytes, size_t size) {
    for (size_t i = 0; i < size; ++i)
      shape.digest = (shape.digest ^ static_cast<const uint8_t*>(bytes)[i]) * 1099511628211u;
  };
  for (uint32_t i = 0; i < l.tail->tensor_count; ++i) {
    const Tensor& t = l.tail->tensors[i];
    if (t.info.region != BR_PARAMETER) continue;
    const bool head = t.info.offset == l.at.weights_at || t.info.offset == l.at.active_at;
    mix(t.name, strlen(t.name) + 1);
    mix(&t.info.dtype, 4);
    mix(&t.info.dimensions, 4);
    mix(t.info.shape + head, sizeof t.info.shape - 4 * head);
    mix(&i, 4);
    ++shape.count;
  }
  return shape;
}

}  // namespace bitreplay
