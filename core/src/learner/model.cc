#include "learner/model.h"

#include <cstring>

#include "learner/state/settings.h"
#include "machine/crc32.h"
#include "sums/shrinkage.h"

namespace bitreplay {
namespace {

constexpr size_t kHeader = 24, kEntry = 32, kAlignment = 64, kMaxText = 1 << 16;
constexpr uint32_t kVersion = 2, kVersionWithShrinkage = 3, kMaxSections = 16;

template <class T>
T number_at(const uint8_t* from) {
  T value;
  memcpy(&value, from, sizeof value);
  return value;
}

// Whether they are sections of these names and types; null ends the list, without one any names are right.
bool are_sections(const Section& sections, const char* const* names, uint32_t first_type, uint32_t last_type) {
  MemoryFile memory = {reinterpret_cast<const uint8_t*>(sections.bytes), sections.size};
  SectionInput in(memory.file(), 0);
  br_section section;
  int code;
  for (; (code = in.next(&section)) == BR_OK; names += names != nullptr) {
    if (names && (!*names || strcmp(*names, section.name))) return false;
    const bool is_last = !names || !names[1];
    if (section.type != (is_last ? last_type : first_type) || section.rank != (section.type == BR_SECTION_TEXT))
      return false;
  }
  return code == kEnd && (!names || !*names);
}

bool are_texts(const Model& m) {
  const char* const names[] = {"model/digest", "model/name", "model/size", nullptr};
  const char* const none[] = {nullptr};
  return are_sections(m.model, names, BR_SECTION_TEXT, BR_SECTION_INT64) &&
         are_sections(m.versions, nullptr, BR_SECTION_INT64, BR_SECTION_INT64) &&
         compare_settings(none, m.settings, m.settings) == BR_OK;
}

}  // namespace

const char* Model::read(const void* from, size_t size, bool replay) {
  const uint8_t* bytes = static_cast<const uint8_t*>(from);
  if (!bytes || reinterpret_cast<uintptr_t>(bytes) % kAlignment) return "the model's bytes must be aligned to 64";
  if (size < kHeader || memcmp(bytes, "BITLEARN", 8)) return "not a model file for C: it does not begin with BITLEARN";
  const uint32_t version = number_at<uint32_t>(bytes + 8);
  const bool has_shrinkage = version == kVersionWithShrinkage;
  if (version != kVersion && !has_shrinkage)
    return "unsupported version of the model file, expected 2 or 3; export it again";
  if (number_at<uint32_t>(bytes + 12) != crc32(bytes + 16, size - 16))
    return "the model file is damaged: its checksum does not match its content";
  const uint32_t sections = number_at<uint32_t>(bytes + 16);
  if (sections > kMaxSections || kHeader + sections * kEntry > size) return "the model file is malformed";
  *this = {};
  for (uint32_t i = 0; i < sections; ++i) {
    const uint8_t* entry = bytes + kHeader + i * kEntry;
    const uint64_t offset = number_at<uint64_t>(entry + 16), length = number_at<uint64_t>(entry + 24);
    if (offset % kAlignment || offset > size || length > size - offset) return "the model file is malformed";
    const Section section = {reinterpret_cast<const char*>(bytes + offset), size_t(length)};
    const struct {
      const char* name;
      Section* to;
    } known[] = {{"model", &model},       {"settings", &settings}, {"versions", &versions},
                 {"features", &features}, {"backbone", &backbone}, {"rate", &rate}};
    for (const auto& each : known)
      if (!strncmp(reinterpret_cast<const char*>(entry), each.name, 16)) *each.to = section;
    const char* const name = reinterpret_cast<const char*>(entry);
    if (!strncmp(name, "own_size", 16) && length == 8) own_size = number_at<uint64_t>(bytes + offset);
    if (!strncmp(name, "shrinkage", 16) && length == sizeof shrinkage && has_shrinkage)
      shrinkage = number_at<br_shrinkage>(bytes + offset);
    if (!memcmp(name, "tail", 4) && name[4] >= '0' && name[4] < char('0' + kMaxTails) && !name[5])
      tails[name[4] - '0'] = section;
  }
  if (!model.size || !settings.size || !versions.size || !own_size) return "the model file lacks a section";
  if (replay && !(backbone.size && tails[0].size && rate.size))
    return "the model file is for the strategy exact, not for replay";
  if (!replay && !features.size)
    return backbone.size ? "the model file is for the strategy replay, not for exact"
                         : "the model file lacks a section";
  const bool is_long = rate.size > kMaxText || model.size > kMaxText || settings.size > kMaxText;
  if (is_long || versions.size > kMaxText || own_size > INT32_MAX || !are_texts(*this) ||
      is_valid(shrinkage) != has_shrinkage)
    return "the model file is malformed";
  return nullptr;
}

}  // namespace bitreplay
