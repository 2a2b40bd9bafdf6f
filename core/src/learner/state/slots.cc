// Two generations of a state in two places of non-volatile memory, written so that power may fail at any moment.
//
// A place holds a header and the bytes of a state file. The header is written last, after a sync, and has the number of
// the generation: a place whose header or file is not whole does not count, and of two whole ones the higher number
// does.
#include <cstring>

#include "learner/handle.h"
#include "learner/state/frame.h"
#include "machine/crc32.h"

namespace bitreplay {
namespace {

struct Header {
  char magic[8];
  uint64_t generation, size;
  uint8_t zeros[36];
  uint32_t crc;  // of all before it
};
static_assert(sizeof(Header) == BR_SLOT_HEADER, "the header of a slot");

struct Place {
  const br_slots& slots;
  uint32_t slot;
  uint64_t generation, size;  // 0: there is no state

  static int read(void* place, size_t offset, void* bytes, size_t size) {
    const Place& self = *static_cast<Place*>(place);
    return self.slots.read(self.slots.context, self.slot, BR_SLOT_HEADER + offset, bytes, size);
  }
  static int write(void* place, size_t offset, const void* bytes, size_t size) {
    const Place& self = *static_cast<Place*>(place);
    return self.slots.write(self.slots.context, self.slot, BR_SLOT_HEADER + offset, bytes, size);
  }
  File file() { return {read, this, size_t(size)}; }
  bool is_whole() { return generation && check_sum(file()) == BR_OK; }
};

Place look(const br_slots& slots, uint32_t slot) {
  Header header;
  Place place = {slots, slot, 0, 0};
  if (slots.read(slots.context, slot, 0, &header, sizeof header)) return place;
  if (memcmp(header.magic, "BITSLOT1", 8) || crc32(reinterpret_cast<const uint8_t*>(&header), 60) != header.crc)
    return place;
  if (!header.generation || header.size > slots.size - BR_SLOT_HEADER) return place;
  place.generation = header.generation;
  place.size = header.size;
  return place;
}

// Both places, by the number of their generation.
struct Places {
  Place last, before;
};

Places look(const br_slots& slots) {
  const Place first = look(slots, 0), second = look(slots, 1);
  return second.generation > first.generation ? Places{second, first} : Places{first, second};
}

bool is_valid(br_learner* l, const br_slots* s) {
  return br_learner_state_bytes(l) && s && s->read && s->erase && s->write && s->sync && s->size > BR_SLOT_HEADER;
}

int write(br_learner* l, Place place, uint64_t generation) {
  const br_slots& s = place.slots;
  const size_t size = br_learner_state_bytes(l);
  if (s.erase(s.context, place.slot, BR_SLOT_HEADER + size)) return BR_STORAGE;
  if (const int failed = br_learner_write(l, Place::write, &place)) return failed;
  if (s.sync(s.context, place.slot)) return BR_STORAGE;
  // What cannot be read again does not count, and the other place stays.
  if (const int wrong = br_learner_verify(l, Place::read, &place, size)) return wrong;
  Header header = {{'B', 'I', 'T', 'S', 'L', 'O', 'T', '1'}, generation, size, {}, 0};
  header.crc = crc32(reinterpret_cast<const uint8_t*>(&header), 60);
  if (s.write(s.context, place.slot, 0, &header, sizeof header) || s.sync(s.context, place.slot)) return BR_STORAGE;
  return BR_OK;
}

}  // namespace
}  // namespace bitreplay

using namespace bitreplay;

int br_learner_save(br_learner* l, const br_slots* slots) {
  if (l && slots && is_learning(l)) return BR_BAD_ORDER;
  if (!is_valid(l, slots)) return BR_BAD_ARGUMENT;
  if (br_learner_state_bytes(l) > slots->size - BR_SLOT_HEADER) return BR_FULL;
  Places places = look(*slots);
  Place &last = places.last, before = places.before;
  // A last one that is damaged is the one to be written over, if the one before is whole.
  const bool damaged = last.generation && !last.is_whole();
  const Place target = damaged ? last : before, other = damaged ? before : last;
  const uint64_t generation = last.generation + 2;
  if (!l->past_is_gone) return write(l, target, generation);
  // First the generation before, still by a lower number: the state is the old one until the last one is written over.
  const uint64_t lower = other.generation > 1 ? other.generation - 1 : 1;
  if (const int failed = write(l, target, lower)) return failed;
  if (const int failed = write(l, other, generation)) return failed;
  l->past_is_gone = false;
  return BR_OK;
}

int br_learner_load(br_learner* l, const br_slots* slots) {
  if (!is_valid(l, slots)) return BR_BAD_ARGUMENT;
  Places places = look(*slots);
  if (!places.last.generation) return BR_NO_STATE;
  const int result = read_own(l, places.last.file());
  if (result != BR_DAMAGED || !places.before.generation) return result;
  return read_own(l, places.before.file());
}

int br_learner_rollback(br_learner* l, const br_slots* slots) {
  if (!is_valid(l, slots)) return BR_BAD_ARGUMENT;
  Places places = look(*slots);
  if (!places.before.generation) return BR_NO_STATE;
  if (const int failed = read_own(l, places.before.file())) return failed;
  const uint32_t slot = places.last.slot;
  if (slots->erase(slots->context, slot, BR_SLOT_HEADER) || slots->sync(slots->context, slot)) return BR_STORAGE;
  return BR_OK;
}
