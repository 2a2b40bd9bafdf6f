#include "learner/state/frame.h"

#include "learner/state/settings.h"

namespace bitreplay {
namespace {

bool expect_model(ExpectedSections& in, const Model& model) {
  br_section theirs, ours;
  const uint8_t* const digest = find_section(model.model, "model/digest", &ours);
  uint8_t text[64];
  int64_t size, own = 0;
  if (!in.take("model/", "digest", BR_SECTION_TEXT, 1, &theirs)) return false;
  if (theirs.size != sizeof text) return in.refuse(BR_MALFORMED);
  if (!in.load(theirs, text)) return false;
  if (!digest || ours.size != sizeof text || memcmp(text, digest, sizeof text)) return in.refuse(BR_OTHER_MODEL);
  if (!in.take("model/", "name", BR_SECTION_TEXT, 1, &theirs)) return false;
  if (!in.integer("model/", "size", INT32_MAX, &size)) return false;
  if (const uint8_t* const content = find_section(model.model, "model/size", &ours)) memcpy(&own, content, sizeof own);
  return size == own || in.refuse(BR_OTHER_SETTINGS);
}

bool expect_settings(ExpectedSections& in, const char* const* free, const Model& model, char* to, size_t room,
                     size_t* size) {
  if (!in.sections("settings/", to, room, size)) return false;
  const int wrong = compare_settings(free, model.settings, {to, *size});
  return !wrong || in.refuse(wrong);
}

bool expect_versions(ExpectedSections& in, const Model& model) {
  MemoryFile memory = {reinterpret_cast<const uint8_t*>(model.versions.bytes), model.versions.size};
  SectionInput known(memory.file(), 0);
  int64_t version, own;
  for (br_section section; known.next(&section) == BR_OK;) {
    memcpy(&own, memory.bytes + section.offset, sizeof own);
    if (!in.integer(section.name, "", INT64_MAX, &version)) return false;
    if (version != own) return in.refuse(BR_MALFORMED);
  }
  return in.end();
}

}  // namespace

int check_sum(const File& file) { return is_format_3(file) ? check_sha256(file) : check_old_sum(file); }

int StateSource::open(const File& file, const Model& model, OldState* memory) {
  old = is_format_3(file) ? nullptr : memory;
  sections = file;
  if (!old) return check_form(file);
  const int wrong = memory->open(file, model);
  sections = memory->file();
  return wrong;
}

int check_frame(const File& sections, const Model& model, const char* const* free, char* to, size_t room,
                size_t* size) {
  ExpectedSections in(sections, BR_STATE_HEAD);
  if (in.skip("learned/") && expect_model(in, model) && in.skip("notes/") &&
      expect_settings(in, free, model, to, room, size))
    expect_versions(in, model);
  return in.wrong;
}

}  // namespace bitreplay
