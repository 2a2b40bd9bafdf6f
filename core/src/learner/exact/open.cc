// Opening a learner: how much memory it takes and where everything lies in it.
#include <cstring>

#include "learner/exact/learner.h"
#include "learner/exact/state_check.h"
#include "learner/state/settings.h"
#include "sums/check.h"

namespace bitreplay {
namespace {

constexpr uint32_t kMaxClasses = 65535, kMaxMarks = (1 << 16) + (1 << 10);

int begin(ExactLearner* l, const void* model, size_t size, const br_learner_options* requested, const Opening& at) {
  br_learner_options& o = l->options;
  if (requested) o = *requested;
  set_default(&o.classes, 16);
  set_default(&o.marks, 1024);
  set_default(&o.pictures, 4096);
  const bool right =
      o.classes <= kMaxClasses && o.marks <= kMaxMarks && o.wide <= 1 && o.factor <= 1 && o.pictures <= kMaxPictures;
  if (const int code = read_model(at, model, size, false, &o, right, &l->model)) return code;
  l->keeps_digests = is_on(l->model.settings, "digests");
  l->keeps_class_products = is_on(l->model.settings, "exact_forget");
  return BR_OK;
}

// The features, from the program's tensors: `features.0` and so on are its parts.
const char* describe(ExactLearner* l) {
  br_tensor_info images, features;
  if (br_program_tensor(l->program, "images", &images) || br_program_tensor(l->program, "features", &features))
    return "the model's program has no images or no features";
  const bool square = images.dimensions == 3 && images.shape[0] == images.shape[1] && images.shape[2] == 3;
  if (!square || images.dtype != BR_UINT8 || images.region != BR_ARENA || !images.per_sample)
    return "the model's program does not take square RGB images";
  if (features.dtype != BR_INT8 || features.region != BR_ARENA || !features.per_sample)
    return "the model's program does not produce int8 features";
  uint64_t count = 1, together = 0;
  for (uint32_t axis = 0; axis < 4; ++axis) count *= features.shape[axis];
  for (l->part_count = 0; l->part_count < kMaxParts; ++l->part_count) {
    char name[] = "features.00";
    br_tensor_info part;
    const uint32_t tens = l->part_count / 10;
    if (tens) name[9] = char('0' + tens);
    name[9 + (tens > 0)] = char('0' + l->part_count % 10);
    name[10 + (tens > 0)] = 0;
    if (br_program_tensor(l->program, name, &part)) break;
    uint64_t length = 1;
    for (uint32_t axis = 0; axis < 4; ++axis) length *= part.shape[axis];
    l->parts[l->part_count].length = int64_t(length);
    together += length;
  }
  if (count != together || count > uint64_t(kMaxFeatures))
    return "the parts of the model's features do not add up, or there are too many features";
  const uint64_t products = uint64_t(triangle(int64_t(count))) * l->options.classes;
  if (l->keeps_class_products && (count < 2 || products > SIZE_MAX / 64))
    return "the model has too few or too many features for exact_forget";
  l->side = images.shape[0];
  l->features = uint32_t(count);
  l->images_at = images.offset;
  l->features_at = features.offset;
  return nullptr;
}

void place_state(ExactLearner* l, BumpAllocator& allocator) {
  const br_learner_options& o = l->options;
  const size_t width = o.wide ? 8 : 4, classes = o.classes, features = l->features;
  l->sums.counts = allocator.next<int64_t>(classes);
  l->sums.class_sums = allocator.next<uint8_t>(width * classes * features);
  l->sums.products = allocator.next<uint8_t>(width * size_t(triangle(int64_t(features))));
  if (l->keeps_class_products)
    l->sums.class_products = allocator.next<uint8_t>(width * classes * size_t(triangle(int64_t(features))));
  if (l->keeps_digests) l->digests = {allocator.next<uint64_t>(o.pictures), int64_t(o.pictures)};
  l->known.names = Names(allocator.next<uint8_t>(classes * Names::row_bytes(o.name_bytes)), o.name_bytes);
  l->known.lineage = Lineage(allocator.next<uint64_t>(o.marks), o.marks);
  l->settings = allocator.next<char>(o.settings_bytes);
  l->labels = allocator.next<uint16_t>(kBroughtAtOnce);
}

void place_answers(ExactLearner* l, BumpAllocator& allocator) {
  br_discriminant& d = l->discriminant;
  const br_learner_options& o = l->options;
  d.part_count = l->part_count;
  d.keeps_factor = o.factor;
  d.shrinkage = l->model.shrinkage;
  uint8_t* const memory = allocator.next<uint8_t>(size_t(br_discriminant_place(&d, l->features, o.classes, nullptr)));
  br_discriminant_place(&d, l->features, o.classes, memory);
  const uint64_t bytes = o.factor ? br_discriminant_answer_bytes(l->features, o.classes) : 8 * uint64_t(o.classes);
  l->answer_memory = allocator.next<uint8_t>(size_t(bytes));
  l->encoded = allocator.next<int8_t>(l->features);
}

size_t largest(size_t a, size_t b) { return a > b ? a : b; }

size_t work_of(const ExactLearner& l, size_t arena) {
  size_t bytes = largest(arena, br_sums_add_bytes(l.features));
  bytes = largest(bytes, br_discriminant_work_bytes(l.features, l.options.classes, l.part_count));
  return (largest(bytes, read_memory_bytes(l)) + 63) / 64 * 64;
}

// Everything behind the network's tables; the learner's description is there already.
void place_rest(ExactLearner* l, BumpAllocator& allocator, size_t arena, size_t parameters) {
  const size_t before = allocator.used();
  l->parameters = allocator.next<uint8_t>(parameters);
  l->memory_used.network += allocator.used() - before;
  const size_t network_end = allocator.used();
  place_state(l, allocator);
  const size_t state_end = allocator.used();
  place_answers(l, allocator);
  const size_t answers_end = allocator.used();
  l->work_bytes = work_of(*l, arena);
  l->work = allocator.next<uint8_t>(l->work_bytes);
  l->memory_used.state = state_end - network_end;
  l->memory_used.answers = answers_end - state_end;
  l->memory_used.work = l->work_bytes;
  l->memory_used.total = allocator.used();
}

}  // namespace

int lay_out(ExactLearner* l, const void* model, size_t size, const br_learner_options* options, const Opening& at) {
  if (const int code = begin(l, model, size, options, at)) return code;
  BumpAllocator allocator(at.memory);
  allocator.next<ExactLearner>(1);
  if (const int code = at.open(l->model.features, allocator, &l->program)) return code;
  br_memory network;
  br_program_memory(l->program, &network);
  const char* const wrong = describe(l);
  at.close(l->program);
  if (wrong) return at.fail(BR_MALFORMED, wrong);
  allocator.next<uint8_t>(size_t(network.tables));
  allocator.next<uint8_t>(size_t(network.packed_weights));
  l->memory_used.network = allocator.used();
  place_rest(l, allocator, size_t(network.arena + network.scratch), size_t(network.parameters));
  return at.check_size(allocator);
}

int set_up(ExactLearner* l) {
  copy_parameters(l->program, l->parameters);
  l->sums.features = l->features;
  l->discriminant.sums = &l->sums;
  l->discriminant.parts = l->parts;
  return BR_OK;
}

}  // namespace bitreplay
