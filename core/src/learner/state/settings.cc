#include "learner/state/settings.h"

#include "sums/solve.h"

namespace bitreplay {
namespace {

constexpr uint64_t kMaxCount = 1 << 20;
constexpr int64_t kMaxBottom = 1 << 30;

bool any(const br_section&, const uint8_t*) { return true; }

uint64_t number_in(const uint8_t* content) {
  uint64_t number;
  memcpy(&number, content, sizeof number);
  return number;
}

bool is_count(const br_section&, const uint8_t* content) {
  return number_in(content) >= 1 && number_in(content) <= kMaxCount;
}
bool is_components(const br_section&, const uint8_t* content) {
  return number_in(content) >= 1 && number_in(content) <= uint64_t(kMaxFeatures);
}
bool is_width(const br_section&, const uint8_t* content) {
  const uint64_t bits = number_in(content);
  return bits && bits <= 32 && !(bits & (bits - 1));
}
bool is_rate(const br_section&, const uint8_t* content) {
  Fraction f;
  memcpy(&f, content, sizeof f);
  return f.top >= 1 && f.top <= f.bottom && f.bottom <= kMaxBottom;
}
bool is_share(const br_section&, const uint8_t* content) {
  Fraction f;
  memcpy(&f, content, sizeof f);
  return f.top >= 0 && f.top < f.bottom && f.bottom <= kMaxBottom;
}
bool is_layers(const br_section& s, const uint8_t* content) {
  uint64_t count = 0;
  for (uint64_t i = 0; i < s.size; ++i) count += (content[i] & 0xC0) != 0x80;
  return count <= 400;
}
bool is_digest(const br_section& s, const uint8_t* content) {
  for (uint64_t i = 0; i < s.size; ++i)
    if (!(content[i] >= '0' && content[i] <= '9') && !(content[i] >= 'a' && content[i] <= 'f')) return false;
  return s.size == 64;
}

// What states keep, by name: src/bitreplay/settings.py. Without a value a setting is not there.
struct Kind {
  const char* name;
  uint32_t type;
  bool required;
  bool (*is_valid)(const br_section&, const uint8_t* content);
};
constexpr Kind kKinds[] = {
    {"settings/augment", BR_SECTION_FLAG, true, any},
    {"settings/batch_size", BR_SECTION_UINT64, true, is_count},
    {"settings/bits", BR_SECTION_TEXT, true, any},
    {"settings/digests", BR_SECTION_FLAG, true, any},
    {"settings/epochs", BR_SECTION_UINT64, true, is_count},
    {"settings/exact_forget", BR_SECTION_FLAG, true, any},
    {"settings/feature_layers", BR_SECTION_TEXT, false, is_layers},
    {"settings/latent_bits", BR_SECTION_UINT64, true, is_width},
    {"settings/learning_rate", BR_SECTION_FRACTION, false, is_rate},
    {"settings/memory_per_class", BR_SECTION_UINT64, true, is_count},
    {"settings/min_steps", BR_SECTION_UINT64, true, is_count},
    {"settings/n_components", BR_SECTION_UINT64, false, is_components},
    {"settings/projection", BR_SECTION_TEXT, false, is_digest},
    {"settings/replay_batch_size", BR_SECTION_UINT64, true, is_count},
    {"settings/replay_layer", BR_SECTION_TEXT, false, any},
    {"settings/seed", BR_SECTION_UINT64, true, any},
    {"settings/strategy", BR_SECTION_TEXT, true, any},
    {"settings/unknown", BR_SECTION_FRACTION, true, is_share},
};

uint32_t rank_of(uint32_t type) { return type == BR_SECTION_TEXT; }

bool is_free(const char* const* free, const char* name) {
  for (; *free; ++free)
    if (!strcmp(name, *free)) return true;
  return false;
}

const uint8_t* content_of(const Section& settings, const char* name, br_section* section) {
  const br_section full = section_of("settings/", name, 0);
  return find_section(settings, full.name, section);
}

bool equal(const br_section& a, const uint8_t* one, const br_section& b, const uint8_t* other) {
  return one && other && a.size == b.size && !memcmp(one, other, size_t(a.size));
}

}  // namespace

int compare_settings(const char* const* free, const Section& ours, const Section& theirs) {
  MemoryFile memory = {reinterpret_cast<const uint8_t*>(theirs.bytes), theirs.size};
  SectionInput in(memory.file(), 0);
  br_section next, own;
  int code = in.next(&next), result = BR_OK;
  for (const Kind& kind : kKinds) {
    const uint8_t* content = nullptr;
    br_section section = next;
    if (code == BR_OK && !strcmp(next.name, kind.name)) {
      content = memory.bytes + next.offset;
      if (next.type != kind.type || next.rank != rank_of(kind.type) || !kind.is_valid(next, content))
        return BR_MALFORMED;
      code = in.next(&next);
    } else if (kind.required) {
      return BR_MALFORMED;
    }
    const uint8_t* const mine = find_section(ours, kind.name, &own);
    const bool same = (!mine && !content) || equal(own, mine, section, content);
    if (!same && !is_free(free, kind.name + strlen("settings/"))) result = BR_OTHER_SETTINGS;
  }
  return code == kEnd ? result : BR_MALFORMED;
}

bool is_on(const Section& settings, const char* name) {
  br_section section;
  const uint8_t* const content = content_of(settings, name, &section);
  return content && section.type == BR_SECTION_FLAG && *content == 1;
}

bool is_text(const Section& settings, const char* name, const char* text) {
  br_section section;
  const uint8_t* const content = content_of(settings, name, &section);
  return content && section.type == BR_SECTION_TEXT && section.size == strlen(text) &&
         !memcmp(content, text, strlen(text));
}

uint64_t integer_of(const Section& settings, const char* name) {
  br_section section;
  const uint8_t* const content = content_of(settings, name, &section);
  return content && section.type == BR_SECTION_UINT64 && section.size == 8 ? number_in(content) : 0;
}

Fraction fraction_of(const Section& settings, const char* name) {
  br_section section;
  Fraction fraction = {0, 0};
  const uint8_t* const content = content_of(settings, name, &section);
  if (content && section.type == BR_SECTION_FRACTION) memcpy(&fraction, content, sizeof fraction);
  return fraction;
}

uint32_t unknown_share(const Section& settings) {
  const Fraction share = fraction_of(settings, "unknown");
  if (share.top < 1 || share.top >= share.bottom || share.bottom > kMaxBottom) return 0;
  return uint32_t(max_of(divide_round(left(share.top, 16), share.bottom), 1));
}

}  // namespace bitreplay
