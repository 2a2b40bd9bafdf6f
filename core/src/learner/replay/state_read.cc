// A replay state from bytes. They are read three times: for the checksum, for all checks, and for the arrays.
#include "learner/replay/state_read.h"

#include "learner/replay/state_arrays.h"
#include "learner/state/header.h"
#include "learner/state/header_input.h"
#include "learner/state/input.h"
#include "learner/state/json_input.h"

namespace bitreplay {
namespace {

constexpr size_t kMaxArrayName = 64;

// Where an array of a file lies: as it is described, or in the place of an equal one.
struct Described {
  uint64_t shape[4], offset;
  uint16_t same;
  bool there;
};

// A parsed file, in the work memory until it is checked.
struct ParsedState {
  ClassNumbers names;
  char* settings;
  size_t settings_size;
  Described* arrays;  // [array_count]
  int64_t* ids;       // [memory_per_class] of one class
  int32_t *classes, *sizes;
  int64_t* seen;
  int64_t draws, experiences, offered, steps;
  uint64_t arrays_at, room, count, stored;
};

void place(const br_replay& l, BumpAllocator& allocator, ParsedState* parsed) {
  const br_replay_options& o = l.options;
  uint8_t* const rows = allocator.next<uint8_t>(o.classes * Names::row_bytes(o.name_bytes));
  parsed->names = ClassNumbers(Names(rows, o.name_bytes), allocator.next<uint8_t>(o.classes));
  parsed->settings = allocator.next<char>(o.settings_bytes);
  parsed->arrays = allocator.next<Described>(array_count(l));
  parsed->ids = allocator.next<int64_t>(l.method.memory_per_class);
  parsed->classes = allocator.next<int32_t>(o.classes);
  parsed->sizes = allocator.next<int32_t>(o.classes);
  parsed->seen = allocator.next<int64_t>(o.classes);
}

class Reader {
 public:
  Reader(const br_replay& l, br_read* read, void* context, size_t size, ParsedState* parsed)
      : l_(l), read_(read), context_(context), size_(size), in_(read, context, size), json_{in_}, expected_{in_},
        parsed_(*parsed) {}

  int all() {
    int wrong = header();
    if (!wrong) wrong = shapes();
    if (!wrong) wrong = tables();
    return wrong && (in_.failed() || failed_) ? BR_STORAGE : wrong;
  }

 private:
  bool expect(const char* text) {
    expected_.out().text(text);
    return expected_.met;
  }
  bool expect_quoted(const char* text, size_t size) {
    const Output out = expected_.out();
    Quoted quoted = {out};
    quoted.out().bytes(text, size);
    return expected_.met;
  }
  bool expect_quoted(const char* text) { return expect_quoted(text, strlen(text)); }

  int header() {
    uint64_t length;
    if (!in_.bytes(&length, 8) || length > size_ - 8 || length % 8) return BR_MALFORMED;
    if (!expect(kBegin)) return BR_MALFORMED;
    for (size_t i = 0; i < kDigits; ++i) in_.next();
    if (!expect("\",\"format\":\"bitreplay-state\",\"learned\":\"")) return BR_MALFORMED;
    if (const int wrong = learned()) return wrong;
    if (!expect("\",\"model\":\"")) return BR_MALFORMED;
    if (const int wrong = model_text(in_, l_.model.model)) return wrong;
    if (!expect("\",\"settings\":\"")) return BR_MALFORMED;
    if (const int wrong = settings()) return wrong;
    if (!expect("\",\"version\":\"2\"}")) return BR_MALFORMED;
    uint64_t end = 0;
    if (!descriptions(&end)) return BR_MALFORMED;
    while (expected_.met && in_.at() < 8 + length) expected_.met = in_.next() == ' ';
    parsed_.arrays_at = 8 + length;
    return expected_.met && in_.at() == 8 + length && size_ - 8 - length == end ? BR_OK : BR_MALFORMED;
  }

  bool counter(const char* text, int64_t* value) {
    return expect_quoted(text) && json_.number(value, kMaxCounted - 1) && *value >= 0;
  }

  int learned() {
    if (!counter("{\"draws\":", &parsed_.draws) || !counter(",\"experiences\":", &parsed_.experiences))
      return BR_MALFORMED;
    if (parsed_.experiences > kMaxExperiences || !expect_quoted(",\"names\":[")) return BR_MALFORMED;
    if (const int wrong = names()) return wrong;
    if (!counter(",\"offered\":", &parsed_.offered) || !expect_quoted(",\"parts\":")) return BR_MALFORMED;
    if (!expect_quoted(l_.model.parts.bytes, l_.model.parts.size) || !expect_quoted(",\"same\":{")) return BR_MALFORMED;
    if (!same() || !counter(",\"steps\":", &parsed_.steps)) return BR_MALFORMED;
    return expect_quoted("}") ? BR_OK : BR_MALFORMED;
  }

  int names() {
    ClassNumbers& names = parsed_.names;
    if (in_.look() == ']') return in_.next(), BR_OK;
    for (;;) {
      char text[kMaxNameBytes];
      br_name name = {nullptr, 0, 0};
      const bool none = in_.look() == 'n';
      if (none) {
        if (!expect_quoted("null")) return BR_MALFORMED;
      } else if (in_.look() == '\\') {
        if (!json_.name(text, &name)) return BR_MALFORMED;
      } else if (!json_.number(&name.number, (int64_t(1) << 53) - 1)) {
        return BR_MALFORMED;
      }
      uint32_t other;
      if (!none && (!is_name(&name) || names.find(name, &other))) return BR_MALFORMED;
      if (names.end() == l_.options.classes || !names.fits(name)) return BR_FULL;
      names.append(none ? nullptr : &name);
      const int c = in_.next();
      if (c == ']') return BR_OK;
      if (c != ',') return BR_MALFORMED;
    }
  }

  // The number of an array whose name has been read up to its quote; all of them where there is none.
  uint32_t number_of(const char* name) const {
    uint32_t number = 0;
    for (; number < array_count(l_); ++number) {
      const Array array = array_at(l_, number);
      const size_t part = strlen(array.part);
      if (!strncmp(name, array.part, part) && name[part] == '.' && !strcmp(name + part + 1, array.name)) break;
    }
    return number;
  }

  // `next` gives the characters of a name that ends with a quote.
  template <class Next>
  uint32_t array_name(Next next) {
    char name[kMaxArrayName];
    size_t size = 0;
    for (int c = next(); c != '"'; c = next()) {
      if (c <= 32 || c > 126 || size + 1 == sizeof name) return array_count(l_);
      name[size++] = char(c);
    }
    name[size] = 0;
    return number_of(name);
  }

  // Pairs of an array and the equal one before it, which is stored.
  bool same() {
    const auto quoted = [&] { return in_.next_quoted(); };
    uint32_t before = 0;
    for (int c = in_.next_quoted(); c != '}'; c = in_.next_quoted()) {
      if (before && c != ',') return false;
      if ((before ? in_.next_quoted() : c) != '"') return false;
      const uint32_t number = array_name(quoted);
      if (number >= array_count(l_) || number < before) return false;
      if (in_.next_quoted() != ':' || in_.next_quoted() != '"') return false;
      const uint32_t other = array_name(quoted);
      if (other >= number || parsed_.arrays[other].same != kStored) return false;
      parsed_.arrays[number].same = uint16_t(other);
      before = number + 1;
    }
    return true;
  }

  int settings() {
    if (const int wrong = settings_text(in_, parsed_.settings, &parsed_.settings_size, l_.options.settings_bytes))
      return wrong;
    const Section theirs = {parsed_.settings, parsed_.settings_size};
    if (!same_method(l_.model.settings, theirs)) return BR_OTHER_SETTINGS;
    Method method;
    return read_method(theirs, l_.model.rate, &method) ? BR_OK : BR_MALFORMED;
  }

  // Arrays without gaps, wide elements first, then by name.
  bool descriptions(uint64_t* end) {
    uint64_t next_rank = 0;
    for (int c = in_.next(); c != '}'; c = in_.next()) {
      if (c != ',' || in_.next() != '"') return false;
      const uint32_t number = array_name([&] { return in_.next(); });
      if (number >= array_count(l_)) return false;
      const Array kind = array_at(l_, number);
      Described& parsed = parsed_.arrays[number];
      const uint64_t rank = uint64_t(8 / kind.width()) * array_count(l_) + number;
      if (rank < next_rank || parsed.same != kStored) return false;
      next_rank = rank + 1;
      if (!description(kind, &parsed, *end)) return false;
      parsed.there = true;
      *end = parsed.offset + bytes_of(kind, parsed);
    }
    return true;
  }

  static uint64_t bytes_of(const Array& kind, const Described& parsed) {
    return parsed.shape[0] * parsed.shape[1] * parsed.shape[2] * parsed.shape[3] * kind.width();
  }

  bool description(const Array& kind, Described* parsed, uint64_t from) {
    if (!expect(":{\"dtype\":\"") || !expect(type_in_files(kind.dtype)) || !expect("\",\"shape\":[")) return false;
    uint64_t max_elements = size_ / kind.width(), elements = 1;
    for (uint32_t axis = 0; axis < 4; ++axis) {
      int64_t length = 1;
      if (axis < kind.dimensions) {
        if (axis && in_.next() != ',') return false;
        if (!json_.number(&length, INT32_MAX) || length < 0) return false;
      }
      parsed->shape[axis] = uint64_t(length);
      if (length && elements > max_elements / uint64_t(length)) return false;
      elements *= uint64_t(length);
    }
    int64_t start, stop;
    if (!expect("],\"data_offsets\":[") || !json_.number(&start, INT64_MAX - 1) || in_.next() != ',') return false;
    if (!json_.number(&stop, INT64_MAX - 1) || !expect("]}")) return false;
    parsed->offset = from;
    return uint64_t(start) == from && uint64_t(stop) == from + elements * kind.width();
  }

  // Every array is there, or an equal one is, with the shape that names, memory and programs ask for.
  int shapes() {
    Described* const arrays = parsed_.arrays;
    for (uint32_t i = 0; i < array_count(l_); ++i) {
      if (arrays[i].same == kStored) continue;
      const Described& other = arrays[arrays[i].same];
      const Array mine = array_at(l_, i), its = array_at(l_, arrays[i].same);
      if (!other.there || mine.dtype != its.dtype || mine.dimensions != its.dimensions) return BR_MALFORMED;
      memcpy(arrays[i].shape, other.shape, sizeof other.shape);
      arrays[i].offset = other.offset;
      arrays[i].there = true;
    }
    parsed_.room = arrays[kPast].shape[0];
    parsed_.count = arrays[kClasses].shape[0];
    parsed_.stored = parsed_.count ? arrays[kIds].shape[0] : 0;
    for (uint32_t i = 0; i < array_count(l_); ++i) {
      const bool wanted = parsed_.count || (i != kCodes && i != kIds && i != kOrigins);
      if (arrays[i].there != wanted) return BR_MALFORMED;
    }
    if (parsed_.room < kFirstRoom || (parsed_.room & (parsed_.room - 1)) || parsed_.names.end() > parsed_.room)
      return BR_MALFORMED;
    if (parsed_.room > room_for(l_.options.classes)) return BR_FULL;
    if (parsed_.count > parsed_.names.end() || parsed_.stored > max_stored(l_)) return BR_MALFORMED;
    for (uint32_t i = 0; i < array_count(l_); ++i) {
      uint64_t shape[4];
      wanted_shape(i, shape);
      if (arrays[i].there && memcmp(shape, arrays[i].shape, sizeof shape)) return BR_MALFORMED;
    }
    return BR_OK;
  }

  void wanted_shape(uint32_t number, uint64_t shape[4]) const {
    const Array array = array_at(l_, number);
    memcpy(shape, array.shape, sizeof array.shape);
    const bool of_samples = number == kCodes || number == kIds || number == kOrigins;
    const bool of_classes = number == kClasses || number == kSeen || number == kSizes;
    const bool head = number == kWeights || number == kPast || array.data == l_.active() ||
                      array.data == reinterpret_cast<const uint8_t*>(l_.head_weights());
    if (of_samples) shape[0] = parsed_.stored;
    if (of_classes) shape[0] = parsed_.count;
    if (head) shape[0] = parsed_.room;
  }

  bool load(uint32_t number, uint64_t first, void* to, uint64_t bytes) {
    const uint64_t at = parsed_.arrays_at + parsed_.arrays[number].offset + first;
    failed_ = failed_ || (bytes && read_(context_, size_t(at), to, size_t(bytes)) != 0);
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

  const br_replay& l_;
  br_read* read_;
  void* context_;
  size_t size_;
  Input in_;
  JsonInput json_;
  Expected expected_;
  ParsedState& parsed_;
  bool failed_ = false;
};

// Reads the arrays into their final places.
bool load_arrays(br_replay* l, br_read* read, void* context, const ParsedState& parsed) {
  for (uint32_t i = 0; i < array_count(*l); ++i) {
    if (!is_there(*l, i)) continue;
    const Array array = array_at(*l, i);
    const size_t at = size_t(parsed.arrays_at + parsed.arrays[i].offset), bytes = size_t(array.bytes());
    if (bytes && read(context, at, const_cast<uint8_t*>(array.data), bytes)) return false;
  }
  return true;
}

int parse_state(br_replay* l, br_read* read, void* context, size_t size, ParsedState* parsed) {
  if (const int wrong = check_checksum(read, context, size)) return wrong;
  BumpAllocator allocator(use_work(l));
  place(*l, allocator, parsed);
  for (uint32_t i = 0; i < array_count(*l); ++i) parsed->arrays[i] = {{0, 0, 0, 0}, 0, kStored, false};
  return Reader(*l, read, context, size, parsed).all();
}

}  // namespace

size_t read_memory_bytes(const br_replay& l) {
  BumpAllocator allocator(nullptr);
  ParsedState parsed = {};
  place(l, allocator, &parsed);
  return allocator.used();
}

}  // namespace bitreplay

using namespace bitreplay;

int br_replay_read(br_replay* l, br_read* read, void* context, size_t size) {
  if (!is_open(l) || !read) return BR_BAD_ARGUMENT;
  ParsedState parsed = {};
  if (const int wrong = parse_state(l, read, context, size, &parsed)) return wrong;
  clear(l);
  if (const int failed = open_tail(l, uint32_t(parsed.room))) return failed;
  l->store.count = uint32_t(parsed.count);
  l->store.stored = uint32_t(parsed.stored);
  if (!load_arrays(l, read, context, parsed)) {
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

int br_replay_verify(br_replay* l, br_read* read, void* context, size_t size) {
  if (!is_open(l) || !read) return BR_BAD_ARGUMENT;
  ParsedState parsed = {};
  return parse_state(l, read, context, size, &parsed);
}
