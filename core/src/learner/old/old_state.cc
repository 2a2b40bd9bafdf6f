#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("Os")  // it runs once in a device's life, which has little flash
#endif
#include "learner/old/old_state.h"

#include "learner/old/json.h"
#include "learner/state/settings.h"

namespace bitreplay {
namespace {

constexpr uint32_t kMaxCounters = 8, kMaxSections = 48;  // the second: besides arrays
constexpr size_t kDigits = 64, kDigitsAt = 8 + 27, kMaxHeader = 8 << 20, kMaxText = 512;
constexpr char kBeginOfHeader[] = "{\"__metadata__\":{\"sha256\":\"";

// Integers by name, in order.
struct Table {
  char names[kMaxCounters][32];
  int64_t values[kMaxCounters];
  uint32_t count;

  bool add(const char* name, int64_t value) {
    if (count == kMaxCounters || strlen(name) >= sizeof *names) return false;
    uint32_t at = count;
    for (; at && strcmp(names[at - 1], name) >= 0; --at) {
      if (!strcmp(names[at - 1], name)) return false;
      memcpy(names[at], names[at - 1], sizeof *names);
      values[at] = values[at - 1];
    }
    memcpy(names[at], name, strlen(name) + 1);
    values[at] = value;
    ++count;
    return true;
  }
};

// Settings by the names of format 3, and what they were called.
struct Setting {
  const char *name, *old;
  uint32_t type;
};
constexpr Setting kSettings[] = {
    {"augment", "augment", BR_SECTION_FLAG},
    {"batch_size", "new", BR_SECTION_UINT64},
    {"bits", "bits", BR_SECTION_TEXT},
    {"digests", "digests", BR_SECTION_FLAG},
    {"epochs", "epochs", BR_SECTION_UINT64},
    {"exact_forget", "exact_forget", BR_SECTION_FLAG},
    {"feature_layers", "numbers", BR_SECTION_TEXT},
    {"latent_bits", "code_bits", BR_SECTION_UINT64},
    {"learning_rate", "rate", BR_SECTION_FRACTION},
    {"memory_per_class", "per_class", BR_SECTION_UINT64},
    {"min_steps", "least_steps", BR_SECTION_UINT64},
    {"n_components", "", BR_SECTION_UINT64},
    {"projection", "projection", BR_SECTION_TEXT},
    {"replay_batch_size", "replayed", BR_SECTION_UINT64},
    {"replay_layer", "level", BR_SECTION_TEXT},
    {"seed", "seed", BR_SECTION_UINT64},
    {"strategy", "strategy", BR_SECTION_TEXT},
    {"unknown", "unknown", BR_SECTION_FRACTION},
};
enum : uint32_t { kDigests = 3, kExactForget = 5, kLayers = 6, kComponents = 11, kStrategy = 16, kSettingCount = 18 };

struct Value {
  bool is_known, is_there;  // the second: and not null
  uint8_t flag;
  uint64_t number;
  Fraction fraction;
  Section text;
};

// "3/10", or "0".
bool read_fraction(const Section& text, Fraction* f) {
  int64_t* to = &f->top;
  *f = {0, 1};
  bool digits = false;
  for (size_t i = 0; i < text.size; ++i) {
    const char c = text.bytes[i];
    if (c == '/' && digits && to == &f->top) {
      to = &f->bottom;
      *to = 0;
      digits = false;
      continue;
    }
    if (c < '0' || c > '9' || *to > (int64_t(1) << 30)) return false;
    *to = 10 * *to + (c - '0');
    digits = true;
  }
  if (!digits || f->bottom < 1) return false;
  const int64_t both = int64_t(greatest_divisor(uint64_t(f->top), uint64_t(f->bottom)));
  f->top /= both;
  f->bottom /= both;
  return true;
}

// "128", or "128 of head+add_12": components, and their layers.
void split_components(Value* layers, Value* components) {
  const char* const text = layers->text.bytes;
  size_t digits = 0;
  while (digits < layers->text.size && digits < 5 && text[digits] >= '0' && text[digits] <= '9') ++digits;
  const size_t left = layers->text.size - digits;
  if (!digits || !(left == 0 || (left > 4 && !memcmp(text + digits, " of ", 4)))) return;
  components->is_there = true;
  for (size_t i = 0; i < digits; ++i) components->number = 10 * components->number + uint64_t(text[i] - '0');
  layers->is_there = left > 0;
  if (left) layers->text = {text + digits + 4, left - 4};
}

constexpr struct {
  const char* name;
  uint32_t type, width;
} kTypes[] = {{"I8", BR_SECTION_INT8, 1},   {"I16", BR_SECTION_INT16, 2}, {"I32", BR_SECTION_INT32, 4},
              {"I64", BR_SECTION_INT64, 8}, {"U8", BR_SECTION_UINT8, 1},  {"U64", BR_SECTION_UINT64, 8}};

}  // namespace

// Over the whole file, with zeros in place of its own digits.
int check_old_sum(const File& file) {
  if (file.size < kDigitsAt + kDigits) return BR_DAMAGED;
  Input in = file.in(0);
  Sha256 sha;
  char digits[kDigits], computed[kDigits], zeros[kDigits];
  memset(zeros, '0', sizeof zeros);
  uint8_t piece[256];
  for (size_t at = 0; at < file.size;) {
    const size_t end = at < kDigitsAt ? kDigitsAt : at == kDigitsAt ? at + kDigits : file.size;
    const size_t some = end - at < sizeof piece ? end - at : sizeof piece;
    if (!in.bytes(piece, some)) return BR_STORAGE;
    if (at == kDigitsAt) memcpy(digits, piece, kDigits);
    sha.update(at == kDigitsAt ? static_cast<const void*>(zeros) : piece, some);
    at += some;
  }
  sha.finish_hex(computed);
  return memcmp(computed, digits, kDigits) ? BR_DAMAGED : BR_OK;
}

struct OldState::Parsed {
  explicit Parsed(const File& file) : json(file.in(8)) {}

  Json json;
  Table counters = {}, versions = {};
  Section names = {}, merged = {}, since = {}, model = {}, digest = {};
  Value values[kSettingCount] = {};
  uint64_t size = 0, arrays_at = 0, end = 0;
  bool has_names = false, has_lineage = false, has_versions = false, has_same = false, has_size = false;
};

OldState::OldState(BumpAllocator& allocator, uint32_t arrays, size_t bytes) : array_room_(arrays) {
  room_ = bytes + (arrays + kMaxSections) * 96;
  arrays_ = allocator.next<Array>(arrays);
  pieces_ = allocator.next<Piece>(arrays + kMaxSections);
  bytes_ = allocator.next<uint8_t>(room_);
}

int OldState::open(const File& old, const Model& model) {
  old_ = old;
  array_count_ = piece_count_ = 0;
  used_ = 0;
  end_ = BR_STATE_HEAD;
  is_full_ = false;
  if (const int wrong = check_old_sum(old)) return wrong;
  Parsed parsed(old);
  const bool right = parse(&parsed) && arrange();
  if (parsed.json.failed()) return BR_STORAGE;
  if (is_full_) return BR_FULL;
  if (!right) return BR_MALFORMED;
  write(parsed, model);
  return is_full_ ? BR_FULL : BR_OK;
}

bool OldState::keep(const void* bytes, size_t size, Section* kept) {
  if (size > room_ - used_) return is_full_ = true, false;
  *kept = {reinterpret_cast<const char*>(bytes_ + used_), size};
  memcpy(bytes_ + used_, bytes, size);
  used_ += size;
  return true;
}

OldState::Array* OldState::array(const char* name) {
  for (uint32_t i = 0; i < array_count_; ++i)
    if (!strcmp(arrays_[i].name, name)) return &arrays_[i];
  if (array_count_ == array_room_) return nullptr;
  Array& added = arrays_[array_count_++];
  added = {};
  memcpy(added.name, name, strlen(name) + 1);
  return &added;
}

bool OldState::parse(Parsed* p) {
  Json& json = p->json;
  uint64_t length;
  if (!old_.in(0).bytes(&length, 8) || length > kMaxHeader || length > old_.size - 8) return false;
  if (!json.word(kBeginOfHeader)) return false;
  for (size_t i = 0; i < kDigits; ++i) json.next();
  if (!json.take('"')) return false;
  uint32_t met = 0;
  while (json.take(',')) {
    char key[16], text[64];
    if (!json.key(key, sizeof key) || !json.take(':')) return false;
    const auto is = [&](const char* name, uint32_t bit) { return !strcmp(key, name) && !(met & bit) && (met |= bit); };
    if (is("format", 1)) {
      if (!json.key(text, sizeof text) || strcmp(text, "bitreplay-state")) return false;
    } else if (is("version", 2)) {
      if (!json.key(text, sizeof text) || (strcmp(text, "1") && strcmp(text, "2"))) return false;
    } else if (is("learned", 4)) {
      if (!json.enter() || !learned(p) || !json.leave()) return false;
    } else if (is("settings", 8)) {
      if (!json.enter() || !settings(p) || !json.leave()) return false;
    } else if (is("model", 16)) {
      if (!json.enter()) return false;
      const bool right = json.object([&](const char* name) {
        char value[kMaxText];
        size_t size;
        Section* const to = !strcmp(name, "name") ? &p->model : !strcmp(name, "digest") ? &p->digest : nullptr;
        return to && !to->bytes && json.text(value, sizeof value, &size) && keep(value, size, to);
      });
      if (!right || !json.leave()) return false;
    } else {
      return false;
    }
  }
  if (met != 31 || !p->has_names || !p->model.bytes || !p->digest.bytes || !json.take('}')) return false;
  p->arrays_at = 8 + length;
  while (json.take(',')) {
    char name[sizeof arrays_->name];
    if (!json.key(name, sizeof name) || !json.take(':') || !describe(p, name)) return false;
  }
  if (!json.take('}')) return false;
  while (json.at() < p->arrays_at)
    if (json.next() != ' ') return false;
  return json.at() == p->arrays_at && p->end == old_.size - p->arrays_at;
}

bool OldState::learned(Parsed* p) {
  Json& json = p->json;
  return json.object([&](const char* key) {
    if (!strcmp(key, "names")) {
      if (p->has_names) return false;
      p->has_names = true;
      const size_t begin = used_;
      Section kept;
      const Output out = {this, [](void* to, const void* bytes, size_t size) {
                            Section part;
                            static_cast<OldState*>(to)->keep(bytes, size, &part);
                          }};
      const bool right = json.list([&] {
        char text[kMaxNameBytes];
        br_name name = {nullptr, 0, 0};
        if (json.take('n')) return json.word("ull") && (put_name(out, nullptr), true);
        const bool is_text = json.look() == '"';
        if (is_text && json.text(text, sizeof text, &name.length)) name.text = text;
        else if (is_text || !json.number(&name.number, INT64_MAX)) return false;
        return is_name(&name) && (put_name(out, &name), true);
      });
      kept = {reinterpret_cast<const char*>(bytes_ + begin), used_ - begin};
      p->names = kept;
      return right;
    }
    if (!strcmp(key, "lineage")) {
      if (p->has_lineage || !json.take('"')) return false;
      p->has_lineage = true;
      Section* const both[] = {&p->merged, &p->since};
      for (Section* marks : both) {
        const size_t begin = used_;
        const char end = marks == &p->merged ? '/' : '"';
        while (!json.take(end)) {
          uint64_t mark = 0;
          for (int i = 0; i < 16; ++i) {
            const int digit = Json::hex_digit(json.next());
            if (digit < 0) return false;
            mark = mark << 4 | uint64_t(digit);
          }
          Section kept;
          if (!keep(&mark, sizeof mark, &kept)) return false;
        }
        *marks = {reinterpret_cast<const char*>(bytes_ + begin), used_ - begin};
      }
      return true;
    }
    if (!strcmp(key, "parts")) {
      if (p->has_versions) return false;
      p->has_versions = true;
      return json.object([&](const char* part) {
        int64_t version;
        return json.number(&version, INT64_MAX) && p->versions.add(part, version);
      });
    }
    if (!strcmp(key, "same")) {
      if (p->has_same) return false;
      p->has_same = true;
      return json.object([&](const char* name) {
        Array* const one = array(name);
        return one && !one->same[0] && json.key(one->same, sizeof one->same) && one->same[0];
      });
    }
    int64_t value;
    return json.number(&value, INT64_MAX) && p->counters.add(key, value);
  });
}

bool OldState::settings(Parsed* p) {
  Json& json = p->json;
  const bool right = json.object([&](const char* key) {
    if (!strcmp(key, "size"))
      return !p->has_size && (p->has_size = true) && json.natural(&p->size, INT32_MAX) && p->size > 0;
    uint32_t i = 0;
    while (i < kSettingCount && strcmp(kSettings[i].old, key)) ++i;
    if (i == kSettingCount || !*key || p->values[i].is_known) return false;
    Value& value = p->values[i];
    value.is_known = true;
    if (json.take('n')) return json.word("ull");
    value.is_there = true;
    char text[2048];
    size_t size;
    switch (kSettings[i].type) {
      case BR_SECTION_FLAG: value.flag = json.look() == 't'; return json.word(value.flag ? "true" : "false");
      case BR_SECTION_UINT64: return json.natural(&value.number, UINT64_MAX);
      case BR_SECTION_FRACTION: return json.text(text, kMaxText, &size) && read_fraction({text, size}, &value.fraction);
      default: return json.text(text, sizeof text, &size) && keep(text, size, &value.text);
    }
  });
  // What 0.1 did not have yet.
  if (!p->values[kDigests].is_known) p->values[kDigests].is_there = true;
  if (!p->values[kExactForget].is_known) p->values[kExactForget].is_there = true;
  if (p->values[kLayers].is_there) split_components(&p->values[kLayers], &p->values[kComponents]);
  return right;
}

// Arrays lie without gaps.
bool OldState::describe(Parsed* p, const char* name) {
  Json& json = p->json;
  Array* const a = array(name);
  if (!a || a->is_described || a->same[0]) return false;
  a->is_described = true;
  char type[8];
  int64_t from, to;
  uint64_t width = 0, count = 1;
  if (!json.word("{\"dtype\":") || !json.key(type, sizeof type) || !json.word(",\"shape\":")) return false;
  for (const auto& each : kTypes)
    if (!strcmp(each.name, type)) a->type = each.type, width = each.width;
  if (!width) return false;
  const bool shape = json.list([&] {
    if (a->rank == 4 || !json.natural(&a->shape[a->rank], INT32_MAX)) return false;
    const uint64_t length = a->shape[a->rank++];
    if (length && count > old_.size / length) return false;
    count *= length;
    return true;
  });
  if (!shape || count > old_.size / width) return false;
  if (!json.word(",\"data_offsets\":[") || !json.number(&from, INT64_MAX) || !json.take(',')) return false;
  if (!json.number(&to, INT64_MAX) || !json.word("]}")) return false;
  a->offset = p->arrays_at + p->end;
  if (uint64_t(from) != p->end || uint64_t(to) != p->end + count * width) return false;
  p->end = uint64_t(to);
  return true;
}

// Arrays that equal another one get its place; all stand in order then.
bool OldState::arrange() {
  for (uint32_t i = 0; i < array_count_; ++i) {
    Array& a = arrays_[i];
    if (a.is_described) continue;
    uint32_t j = 0;
    while (j < array_count_ && strcmp(arrays_[j].name, a.same)) ++j;
    if (j == array_count_ || !arrays_[j].is_described || arrays_[j].same[0]) return false;
    const Array& other = arrays_[j];
    memcpy(a.shape, other.shape, sizeof a.shape);
    a.offset = other.offset;
    a.type = other.type;
    a.rank = other.rank;
  }
  for (uint32_t i = 1; i < array_count_; ++i)
    for (uint32_t j = i; j && strcmp(arrays_[j - 1].name, arrays_[j].name) > 0; --j) {
      const Array kept = arrays_[j];
      arrays_[j] = arrays_[j - 1];
      arrays_[j - 1] = kept;
    }
  return true;
}

void OldState::put(const br_section& section, const void* content, uint64_t offset) {
  br_section own = section;
  uint8_t head[kMaxHead];
  const size_t size = put_head(&own, head);
  Section kept;
  if (!size || piece_count_ == array_room_ + kMaxSections || !keep(head, size, &kept)) {
    is_full_ = true;
    return;
  }
  pieces_[piece_count_++] = {reinterpret_cast<const uint8_t*>(kept.bytes),
                             static_cast<const uint8_t*>(content),
                             end_,
                             offset,
                             own.size,
                             uint32_t(size)};
  end_ += size + padded(own.size);
}

void OldState::put_integer(const char* prefix, const char* name, int64_t value) {
  Section kept;
  if (keep(&value, sizeof value, &kept)) put(section_of(prefix, name, BR_SECTION_INT64), kept.bytes);
}

void OldState::put_text(const char* prefix, const char* name, const Section& text) {
  put(section_of(prefix, name, BR_SECTION_TEXT, 1, text.size), text.bytes);
}

void OldState::write(const Parsed& p, const Model& model) {
  const Section strategy = p.values[kStrategy].text;
  const bool is_exact = strategy.size == 5 && !memcmp(strategy.bytes, "exact", 5);
  const auto is_note = [&](uint32_t i) { return is_exact && !strcmp(p.counters.names[i], "experiences"); };
  put(section_of("learned/classes", "", BR_SECTION_NAMES, 1, p.names.size), p.names.bytes);
  for (uint32_t i = 0; i < p.counters.count; ++i)
    if (!is_note(i)) put_integer("learned/counters/", p.counters.names[i], p.counters.values[i]);
  for (uint32_t i = 0; i < array_count_; ++i) {
    br_section section = section_of("learned/parts/", arrays_[i].name, arrays_[i].type, arrays_[i].rank);
    for (uint32_t axis = 0; axis < arrays_[i].rank; ++axis) section.shape[axis] = arrays_[i].shape[axis];
    put(section, nullptr, arrays_[i].offset);
  }
  put_text("model/", "digest", p.digest);
  put_text("model/", "name", p.model);
  put_integer("model/", "size", p.has_size ? int64_t(p.size) : int64_t(model.own_size));
  for (uint32_t i = 0; i < p.counters.count; ++i)
    if (is_note(i)) put_integer("notes/", p.counters.names[i], p.counters.values[i]);
  if (is_exact) {
    put(section_of("notes/", "lineage.merged", BR_SECTION_UINT64, 1, p.merged.size / 8), p.merged.bytes);
    put(section_of("notes/", "lineage.since", BR_SECTION_UINT64, 1, p.since.size / 8), p.since.bytes);
  }
  for (uint32_t i = 0; i < kSettingCount; ++i) {
    const Value& value = p.values[i];
    const uint32_t type = kSettings[i].type;
    Section kept;
    if (!value.is_there) continue;
    if (type == BR_SECTION_TEXT) {
      put_text("settings/", kSettings[i].name, value.text);
      continue;
    }
    const void* const content = type == BR_SECTION_FLAG     ? static_cast<const void*>(&value.flag)
                                : type == BR_SECTION_UINT64 ? static_cast<const void*>(&value.number)
                                                            : &value.fraction;
    const size_t size = type == BR_SECTION_FLAG ? 1 : type == BR_SECTION_UINT64 ? 8 : 16;
    if (keep(content, size, &kept)) put(section_of("settings/", kSettings[i].name, type), kept.bytes);
  }
  for (uint32_t i = 0; i < p.versions.count; ++i) put_integer("versions/", p.versions.names[i], p.versions.values[i]);
  if (p.has_versions) return;
  MemoryFile memory = {reinterpret_cast<const uint8_t*>(model.versions.bytes), model.versions.size};
  SectionInput known(memory.file(), 0);
  for (br_section section; known.next(&section) == BR_OK;) put_integer("", section.name, 1);
}

uint64_t OldState::locate(uint64_t offset) const {
  for (uint32_t i = 0; i < piece_count_; ++i)
    if (pieces_[i].at + pieces_[i].head_size == offset && !pieces_[i].content) return pieces_[i].offset;
  return 0;
}

int OldState::read(void* self, size_t offset, void* to, size_t size) {
  const OldState& s = *static_cast<OldState*>(self);
  uint8_t* target = static_cast<uint8_t*>(to);
  if (offset > s.end_ || size > s.end_ - offset) return 1;
  memset(target, 0, size);
  const uint64_t begin = offset, end = offset + size;
  for (uint32_t i = 0; i < s.piece_count_; ++i) {
    const Piece& piece = s.pieces_[i];
    // What the request has of the head, and then of the content; between sections there are zeros.
    for (int part = 0; part < 2; ++part) {
      const bool is_head = part == 0;
      const uint64_t first = piece.at + (is_head ? 0 : piece.head_size), bytes = is_head ? piece.head_size : piece.size;
      const uint64_t from = first > begin ? first : begin, until = first + bytes < end ? first + bytes : end;
      if (from >= until) continue;
      const uint8_t* const memory = is_head ? piece.head : piece.content;
      uint8_t* const place = target + (from - begin);
      const size_t some = size_t(until - from), inside = size_t(from - first);
      if (memory) memcpy(place, memory + inside, some);
      else if (s.old_.read(s.old_.context, size_t(piece.offset) + inside, place, some)) return 1;
    }
  }
  return 0;
}

}  // namespace bitreplay
