// The header of a state file (docs/state-format.md), as Python writes it, and the checksum of the whole file.
#pragma once
#include "bitreplay_learner.h"
#include "learner/model.h"
#include "learner/state/text.h"

namespace bitreplay {

constexpr size_t kDigits = 64;
constexpr size_t kMaxHeader = 8 << 20;  // of any container file
constexpr const char* kBegin = "{\"__metadata__\":{\"sha256\":\"";
constexpr size_t kDigitsAt = 8 + 27;  // of the checksum, in the file

// Writes a header up to the end of its texts; learned(out) writes what was learned.
template <class Learned>
void put_texts(const Output& out, const char* digits, const Section& model, const Section& settings, Learned learned) {
  Quoted quoted = {out};
  const Output inside = quoted.out();
  out.text(kBegin);
  out.bytes(digits, kDigits);
  out.text("\",\"format\":\"bitreplay-state\",\"learned\":\"");
  learned(inside);
  out.text("\",\"model\":\"");
  inside.bytes(model.bytes, model.size);
  out.text("\",\"settings\":\"");
  inside.bytes(settings.bytes, settings.size);
  out.text("\",\"version\":\"2\"}");
}

// Compares a file with its checksum: BR_OK, BR_DAMAGED, or BR_STORAGE if it cannot be read.
int check_checksum(br_read* read, void* context, size_t size);

}  // namespace bitreplay
