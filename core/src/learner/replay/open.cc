// Opening a replay learner: how much memory it takes and where everything lies in it.
#include <cstring>

#include "learner/replay/learner.h"
#include "learner/replay/networks.h"
#include "learner/replay/state_arrays.h"
#include "machine/program.h"

namespace bitreplay {
namespace {

constexpr uint32_t kMaxSamples = 1 << 20;
constexpr size_t kShared = 8;  // a tail's arena so many times the backbone's has it beside, not over it

uint32_t tail_of(uint32_t room) { return uint32_t(__builtin_ctz(room / kFirstRoom)); }

int begin(ReplayLearner* l, const void* model, size_t size, const br_learner_options* requested, const Opening& at) {
  br_learner_options& o = l->options;
  if (requested) o = *requested;
  set_default(&o.classes, kFirstRoom);
  set_default(&o.samples, 64);
  const bool right = o.classes <= kFirstRoom << (kMaxTails - 1) && o.samples <= kMaxSamples;
  if (const int code = read_model(at, model, size, true, &o, right, &l->model)) return code;
  if (!read_method(l->model.settings, l->model.rate, &l->method))
    return at.fail(
        BR_MALFORMED,
        "the model's settings are not supported by replay in C, which has no augment, no unknown and no float");
  if (!has_tail(*l, room_for(o.classes))) return at.fail(BR_FULL, "the model was exported for fewer classes");
  if (uint64_t(o.classes) * l->method.memory_per_class > INT32_MAX)
    return at.fail(BR_FULL, "too many stored samples: classes times memory_per_class must be below 2^31");
  return BR_OK;
}

// What a machine's addresses cannot hold stays too large for them: `fits_addresses` refuses it.
size_t held(uint64_t size) { return size_t(size < SIZE_MAX / 2 ? size : SIZE_MAX / 2); }

void max_of(size_t* so_far, uint64_t size) {
  if (held(size) > *so_far) *so_far = held(size);
}

// Looks at every tail that options ask for, one after the other in the same memory: the largest of each size.
int measure_tails(ReplayLearner* l, const Opening& at, const BumpAllocator& allocator) {
  ParameterShape first = {};
  for (uint32_t room = kFirstRoom; room <= room_for(l->options.classes); room *= 2) {
    if (const int code = at.open(l->model.tails[tail_of(room)], allocator, &l->tail)) return code;
    const char* wrong = describe_tail(l, room);
    if (!wrong) wrong = list_tensors(l);
    br_memory memory;
    br_program_memory(l->tail, &memory);
    const ParameterShape shape = parameter_shape(*l);
    if (room == kFirstRoom) first = shape;
    if (!wrong && (shape.count != first.count || shape.digest != first.digest))
      wrong = "the model's tails have different parameters";
    at.close(l->tail);
    if (wrong) return at.fail(BR_MALFORMED, wrong);
    max_of(&l->tail_tables_bytes, (memory.tables + 63) / 64 * 64 + (memory.packed_weights + 63) / 64 * 64);
    max_of(&l->parameter_bytes, memory.parameters);
    max_of(&l->tail_arena_bytes, memory.arena + memory.scratch);
  }
  return BR_OK;
}

void place_state(ReplayLearner* l, BumpAllocator& allocator) {
  const br_learner_options& o = l->options;
  const size_t room = room_for(o.classes), stored = max_stored(*l);
  l->parameters = allocator.next<uint8_t>(l->parameter_bytes);
  l->tensors = allocator.next<uint16_t>(l->tensor_count);
  l->consolidated = allocator.next<int32_t>(room * l->at.columns);
  l->past = allocator.next<int64_t>(room);
  Store& s = l->store;
  s.classes = allocator.next<int32_t>(o.classes);
  s.seen = allocator.next<int64_t>(o.classes);
  s.sizes = allocator.next<int32_t>(o.classes);
  s.codes = allocator.next<uint64_t>(stored * l->words);
  s.origins = allocator.next<int32_t>(stored);
  s.ids = allocator.next<int64_t>(stored);
  uint8_t* const rows = allocator.next<uint8_t>(o.classes * Names::row_bytes(o.name_bytes));
  l->names = ClassNumbers(Names(rows, o.name_bytes), allocator.next<uint8_t>(o.classes));
  l->settings = allocator.next<char>(o.settings_bytes);
}

void place_experience(ReplayLearner* l, BumpAllocator& allocator) {
  const br_learner_options& o = l->options;
  l->fresh = allocator.next<uint64_t>(size_t(o.samples) * l->words);
  l->labels = allocator.next<int32_t>(o.samples);
  l->order = allocator.next<uint64_t>(o.samples);
  l->pending = Names(allocator.next<uint8_t>(o.classes * Names::row_bytes(o.name_bytes)), o.name_bytes);
  l->present = allocator.next<int64_t>(room_for(o.classes));
  l->picked = allocator.next<uint32_t>(l->method.replay_batch_size);
  l->exchanged = allocator.next<uint32_t>(2 * size_t(l->method.replay_batch_size));
  l->logits = allocator.next<int64_t>(o.classes);
  l->encoded = allocator.next<uint64_t>(l->words);
}

// Everything behind the networks' tables.
void place_rest(ReplayLearner* l, BumpAllocator& allocator, size_t backbone_parameters) {
  l->backbone_parameters = allocator.next<uint8_t>(backbone_parameters);
  const size_t network_end = allocator.used();
  place_state(l, allocator);
  const size_t state_end = allocator.used();
  place_experience(l, allocator);
  const size_t experience_end = allocator.used();
  size_t work = l->tail_arena_bytes;
  max_of(&work, l->backbone_arena_bytes);
  max_of(&work, read_memory_bytes(*l));
  max_of(&work, l->parameter_bytes);  // while the room grows
  l->work_bytes = (work + 63) / 64 * 64;
  l->work = allocator.next<uint8_t>(l->work_bytes);
  const bool apart = l->tail_arena_bytes > kShared * l->backbone_arena_bytes;
  l->backbone_arena = apart ? allocator.next<uint8_t>(l->backbone_arena_bytes) : l->work;
  l->memory_used.total = allocator.used();
  l->memory_used.network = network_end;
  l->memory_used.state = state_end - network_end;
  l->memory_used.experience = experience_end - state_end;
  l->memory_used.work = allocator.used() - experience_end;
}

// Sizes that a machine's addresses can hold.
bool fits_addresses(const ReplayLearner& l) {
  const uint64_t samples = uint64_t(max_stored(l)) + l.options.samples, rows = room_for(l.options.classes);
  const uint64_t together = samples * (8 * uint64_t(l.words) + 32) + rows * (4 * uint64_t(l.at.columns) + 16) +
                            l.parameter_bytes * 2 + l.tail_arena_bytes + l.backbone_arena_bytes +
                            16 * uint64_t(l.method.replay_batch_size);
  return together <= SIZE_MAX / 4;
}

}  // namespace

uint32_t room_for(uint32_t classes) {
  uint32_t room = kFirstRoom;
  while (room < classes) room *= 2;
  return room;
}

bool has_tail(const ReplayLearner& l, uint32_t room) {
  for (uint32_t each = kFirstRoom; each <= room; each *= 2)
    if (tail_of(each) >= kMaxTails || !l.model.tails[tail_of(each)].size) return false;
  return true;
}

int open_tail(ReplayLearner* l, uint32_t room) {
  const Section& section = l->model.tails[tail_of(room)];
  const int code =
      br_program_open_in(section.bytes, section.size, l->tail_tables, l->tail_tables_bytes, &l->tail, nullptr, 0);
  l->tail_is_clean = l->tail_is_prepared = false;
  if (code) return code;
  describe_tail(l, room);
  copy_parameters(l->tail, l->parameters);
  return BR_OK;
}

int resize(ReplayLearner* l, uint32_t room) {
  const TailPlaces old = l->at;
  if (room == old.room) return BR_OK;
  // Offsets of the old tail's tensors are gone with its tables: what it learned is packed by name first.
  uint8_t* const packed = use_work(l);
  size_t used = 0;
  for (uint32_t k = 0; k < l->tensor_count; ++k) {
    const Tensor& t = l->tail->tensors[l->tensors[k]];
    memcpy(packed + used, l->parameters + t.info.offset, size_t(t.bytes(1)));
    used += size_t(t.bytes(1));
  }
  if (const int code = open_tail(l, room)) return code;
  used = 0;
  for (uint32_t k = 0; k < l->tensor_count; ++k) {
    const Tensor& t = l->tail->tensors[l->tensors[k]];
    const bool weights = t.info.offset == l->at.weights_at, active = t.info.offset == l->at.active_at;
    const size_t bytes = size_t(t.bytes(1)), before = weights || active ? bytes / room * old.room : bytes;
    uint8_t* const to = l->parameters + t.info.offset;
    memset(to, 0, bytes);
    memcpy(to, packed + used, before);
    used += before;
  }
  const size_t columns = l->at.columns, more = room - old.room;
  memset(l->consolidated + old.room * columns, 0, more * columns * sizeof *l->consolidated);
  memset(l->past + old.room, 0, more * sizeof *l->past);
  return BR_OK;
}

void clear(ReplayLearner* l) {
  open_tail(l, kFirstRoom);
  l->names.clear();
  memset(l->consolidated, 0, kFirstRoom * size_t(l->at.columns) * sizeof *l->consolidated);
  memset(l->past, 0, kFirstRoom * sizeof *l->past);
  l->store.count = l->store.stored = 0;
  l->store.offered = l->store.draws = l->experiences = l->steps = 0;
  memcpy(l->settings, l->model.settings.bytes, l->model.settings.size);
  l->settings_size = l->model.settings.size;
  read_method(l->model.settings, l->model.rate, &l->method);
  l->phase = Phase::idle;
}

int lay_out(ReplayLearner* l, const void* model, size_t size, const br_learner_options* options, const Opening& at) {
  if (const int code = begin(l, model, size, options, at)) return code;
  BumpAllocator allocator(at.memory);
  allocator.next<ReplayLearner>(1);
  if (const int code = at.open(l->model.backbone, allocator, &l->backbone)) return code;
  br_memory network;
  br_program_memory(l->backbone, &network);
  const char* const wrong = describe_backbone(l);
  at.close(l->backbone);
  if (wrong) return at.fail(BR_MALFORMED, wrong);
  l->backbone_arena_bytes = held(network.arena + network.scratch);
  allocator.next<uint8_t>(size_t(network.tables));
  allocator.next<uint8_t>(size_t(network.packed_weights));
  if (const int code = measure_tails(l, at, allocator)) return code;
  if (!fits_addresses(*l)) return at.fail(BR_NO_MEMORY, "the learner is too large for this machine");
  l->tail_tables = allocator.next<uint8_t>(l->tail_tables_bytes);
  place_rest(l, allocator, size_t(network.parameters));
  return at.check_size(allocator);
}

int set_up(ReplayLearner* l) {
  copy_parameters(l->backbone, l->backbone_parameters);
  if (const int code = open_tail(l, kFirstRoom)) return code;
  list_tensors(l);
  return BR_OK;
}

}  // namespace bitreplay
