// A replay state from bytes, which are read several times: for the checksum, the form, all checks, and the arrays.
#include "learner/replay/state_arrays.h"
#include "learner/state/frame.h"

namespace bitreplay {
namespace {

// A parsed file, in the work memory until it is checked.
struct ParsedState {
  File file;
  OldState old;
  ClassNumbers names;
  char* settings;
  size_t settings_size;
  uint64_t* offsets;  // [array_count] of the arrays
  int64_t* ids;       // [memory_per_class] of one class
  int32_t *classes, *sizes;
  int64_t* seen;
  int64_t draws, experiences, offered, steps;
  uint64_t room, count, stored;
};

void place(const ReplayLearner& l, BumpAllocator& allocator, ParsedState* parsed) {
  const br_learner_options& o = l.options;
  uint8_t* const rows = allocator.next<uint8_t>(o.classes * Names::row_bytes(o.name_bytes));
  parsed->names = ClassNumbers(Names(rows, o.name_bytes), allocator.next<uint8_t>(o.classes));
  parsed->settings = allocator.next<char>(o.settings_bytes);
  parsed->offsets = allocator.next<uint64_t>(array_count(l));
  parsed->ids = allocator.next<int64_t>(l.method.memory_per_class);
  parsed->classes = allocator.next<int32_t>(o.classes);
  parsed->sizes = allocator.next<int32_t>(o.classes);
  parsed->seen = allocator.next<int64_t>(o.classes);
  parsed->old = OldState(allocator, array_count(l), size_t(o.classes) * (o.name_bytes + 9) + o.settings_bytes);
}

class Reader {
 public:
  Reader(const ReplayLearner& l, ParsedState* parsed) : l_(l), parsed_(*parsed) {}

  int all(const StateSource& source) {
    const int wrong = sections(source);
    if (wrong) return wrong;
    const int impossible = tables();
    return failed_ ? BR_STORAGE : impossible;
  }

 private:
  int sections(const StateSource& source) {
    if (const int wrong = check_frame(source.sections, l_.model, kFreeInReplay, parsed_.settings,
                                      l_.options.settings_bytes, &parsed_.settings_size))
      return wrong;
    Method method;
    if (!read_method({parsed_.settings, parsed_.settings_size}, l_.model.rate, &method)) return BR_MALFORMED;
    ExpectedSections in(source.sections, BR_STATE_HEAD);
    const char* const counters = "learned/counters/";
    const bool right = in.classes([&](const br_name& name, bool is_free) { return add(name, is_free); }) &&
                       in.integer(counters, "draws", kMaxCounted, &parsed_.draws) &&
                       in.integer(counters, "experiences", kMaxExperiences + 1, &parsed_.experiences) &&
                       in.integer(counters, "offered", kMaxCounted, &parsed_.offered) &&
                       in.integer(counters, "steps", kMaxCounted, &parsed_.steps) && arrays(in) && in.skip("model/") &&
                       in.begins("settings/");
    for (uint32_t i = 0; right && i < array_count(l_); ++i) parsed_.offsets[i] = source.locate(parsed_.offsets[i]);
    return right ? BR_OK : in.wrong;
  }

  int add(const br_name& name, bool is_free) {
    ClassNumbers& names = parsed_.names;
    uint32_t other;
    if (!is_free && names.find(name, &other)) return BR_MALFORMED;
    if (names.end() == l_.options.classes || !names.fits(name)) return BR_FULL;
    names.append(is_free ? nullptr : &name);
    return BR_OK;
  }

  // Every array is there, with the shape that names, memory and programs ask for.
  bool arrays(ExpectedSections& in) {
    for (uint32_t i = 0; i < array_count(l_); ++i) {
      if (!is_there(parsed_.count, i) && i > kClasses) continue;
      const Array array = array_at(l_, i);
      br_section found, wanted = array.section;
      if (!in.take(wanted.name, "", wanted.type, wanted.rank, &found)) return false;
      if (i == kWeights && !is_room(in, found.shape[0])) return false;
      if (i == kClasses) parsed_.count = found.shape[0];
      if (i == kCodes) parsed_.stored = found.shape[0];
      const bool of_head = i == kWeights || i == kPast || array.data == l_.active() ||
                           array.data == reinterpret_cast<const uint8_t*>(l_.head_weights());
      if (i == kCodes || i == kIds || i == kOrigins) wanted.shape[0] = parsed_.stored;
      else if (i >= kClasses && i < kFixed) wanted.shape[0] = parsed_.count;
      else if (of_head) wanted.shape[0] = parsed_.room;
      if (memcmp(wanted.shape, found.shape, sizeof wanted.shape)) return in.refuse(BR_MALFORMED);
      parsed_.offsets[i] = found.offset;
    }
    const bool fits = parsed_.count <= parsed_.names.end() && parsed_.stored <= max_stored(l_);
    return fits || in.refuse(BR_MALFORMED);
  }

  bool is_room(ExpectedSections& in, uint64_t room) {
    parsed_.room = room;
    if (room < kFirstRoom || (room & (room - 1)) || parsed_.names.end() > room) return in.refuse(BR_MALFORMED);
    return room <= room_for(l_.options.classes) || in.refuse(BR_FULL);
  }

  bool load(uint32_t number, uint64_t first, void* to, uint64_t bytes) {
    const File& file = parsed_.file;
    failed_ = failed_ || (bytes && file.read(file.context, size_t(parsed_.offsets[number] + first), to, size_t(bytes)));
    return !failed_;
  }

  // Counts can be those of samples that were offered.
  int tables() {
    const ClassNumbers& names = parsed_.names;
    uint32_t mask = 0;  // the head's array of classes that take part
    while (array_at(l_, mask).data != l_.active()) ++mask;
    for (uint64_t c = 0; c < parsed_.room; ++c) {
      int64_t past;
      uint8_t active;
      if (!load(kPast, 8 * c, &past, 8) || past < 0 || past >= kMaxCounted) return BR_MALFORMED;
      if (past && !names.has(uint32_t(c))) return BR_MALFORMED;
      if (!load(mask, c, &active, 1) || (names.known() && active != (past > 0))) return BR_MALFORMED;
    }
    const uint64_t count = parsed_.count;
    if (!load(kClasses, 0, parsed_.classes, 4 * count) || !load(kSizes, 0, parsed_.sizes, 4 * count))
      return BR_MALFORMED;
    if (!load(kSeen, 0, parsed_.seen, 8 * count)) return BR_MALFORMED;
    uint64_t first = 0;
    for (uint64_t k = 0; k < count; ++k) {
      const int32_t label = parsed_.classes[k], held = parsed_.sizes[k];
      if (label < 0 || !names.has(uint32_t(label)) || (k && label <= parsed_.classes[k - 1])) return BR_MALFORMED;
      if (held < 0 || uint32_t(held) > l_.method.memory_per_class || uint64_t(held) > parsed_.stored - first)
        return BR_MALFORMED;
      if (parsed_.seen[k] < held || parsed_.seen[k] >= kMaxCounted || !samples(first, uint32_t(held)))
        return BR_MALFORMED;
      first += uint64_t(held);
    }
    return first == parsed_.stored ? BR_OK : BR_MALFORMED;
  }

  bool samples(uint64_t first, uint32_t held) {
    if (!load(kIds, 8 * first, parsed_.ids, 8 * uint64_t(held))) return false;
    for (uint32_t i = 0; i < held; ++i) {
      int32_t origin;
      if (!load(kOrigins, 4 * (first + i), &origin, 4) || origin < 0 || origin >= parsed_.experiences) return false;
      if (parsed_.ids[i] < 0 || parsed_.ids[i] >= parsed_.offered) return false;
      for (uint32_t j = 0; j < i; ++j)
        if (parsed_.ids[j] == parsed_.ids[i]) return false;
    }
    return true;
  }

  const ReplayLearner& l_;
  ParsedState& parsed_;
  bool failed_ = false;
};

// Reads the arrays into their final places.
bool load_arrays(ReplayLearner* l, const ParsedState& parsed) {
  const File& file = parsed.file;
  for (uint32_t i = 0; i < array_count(*l); ++i) {
    if (!is_there(l->store.count, i)) continue;
    const Array array = array_at(*l, i);
    const size_t at = size_t(parsed.offsets[i]), bytes = size_t(array.section.size);
    if (bytes && file.read(file.context, at, const_cast<uint8_t*>(array.data), bytes)) return false;
  }
  return true;
}

int parse_state(ReplayLearner* l, const File& file, ParsedState* parsed) {
  BumpAllocator allocator(use_work(l));
  place(*l, allocator, parsed);
  parsed->file = file;
  for (uint32_t i = 0; i < array_count(*l); ++i) parsed->offsets[i] = 0;
  StateSource source;
  const int wrong = source.open(file, l->model, &parsed->old);
  return wrong ? wrong : Reader(*l, parsed).all(source);
}

}  // namespace

size_t read_memory_bytes(const ReplayLearner& l) {
  BumpAllocator allocator(nullptr);
  ParsedState parsed = {};
  place(l, allocator, &parsed);
  return allocator.used();
}

int learner_read(ReplayLearner* l, const File& file, bool) {
  if (!is_open(l) || !file.read) return BR_BAD_ARGUMENT;
  ParsedState parsed = {};
  if (const int wrong = parse_state(l, file, &parsed)) return wrong;
  clear(l);
  if (const int failed = open_tail(l, uint32_t(parsed.room))) return failed;
  l->store.count = uint32_t(parsed.count);
  l->store.stored = uint32_t(parsed.stored);
  if (!load_arrays(l, parsed)) {
    clear(l);
    return BR_STORAGE;
  }
  // What was looked at is what counts, should the caller's function not give the same twice.
  memcpy(l->store.classes, parsed.classes, parsed.count * sizeof *parsed.classes);
  memcpy(l->store.sizes, parsed.sizes, parsed.count * sizeof *parsed.sizes);
  memcpy(l->store.seen, parsed.seen, parsed.count * sizeof *parsed.seen);
  memcpy(l->settings, parsed.settings, parsed.settings_size);
  l->settings_size = parsed.settings_size;
  read_method({l->settings, l->settings_size}, l->model.rate, &l->method);
  l->names.copy(parsed.names);
  l->store.draws = parsed.draws;
  l->store.offered = parsed.offered;
  l->experiences = parsed.experiences;
  l->steps = parsed.steps;
  l->past_is_gone = false;
  return BR_OK;
}

int learner_verify(ReplayLearner* l, const File& file) {
  if (!is_open(l) || !file.read) return BR_BAD_ARGUMENT;
  ParsedState parsed = {};
  return parse_state(l, file, &parsed);
}

}  // namespace bitreplay
