/* The two slots of a learner's states in a ring of areas of flash.
 *
 * An area is whole blocks: a record in units of its own, then the state file. The record is a slot's header
 * (core/src/learner/state/slots.cc), the number of the write and a checksum; it is written last. A slot that is erased
 * moves to the next free area, and the one that it leaves is erased when the new record is written: a save returns when
 * two areas have states, no more.
 *
 * Where power fails during an erase or a program, bits may read as 0 now and as 1 later, so that the last record may be
 * there today and gone tomorrow. Therefore:
 *   - records are read once, at the start;
 *   - where more than two areas have a record, the save of the latest has not returned: those of the two earliest
 *     writes count, one of which is the last that was saved;
 *   - neither of these is erased before another record was written to its end in this life;
 *   - an area that was not erased in this life is erased before it is written.
 */
#include <string.h>

#include "bitreplay_device.h"
#include "crc32.h"

enum { RECORD = BR_SLOT_HEADER + 12 };
static const uint32_t NONE = 0xFFFFFFFFu; /* no area */

static uint64_t little_endian(const uint8_t* bytes, int size) {
  uint64_t value = 0;
  for (int i = size - 1; i >= 0; --i) value = value << 8 | bytes[i];
  return value;
}

static void put_little_endian(uint8_t* bytes, uint64_t value, int size) {
  for (int i = 0; i < size; ++i) bytes[i] = (uint8_t)(value >> 8 * i);
}

/* The number of the write that an area's record has; 0: there is none. */
static uint64_t write_of(const uint8_t* record) {
  const uint32_t crc = device_crc32(0, record, RECORD - 4);
  return crc == little_endian(record + RECORD - 4, 4) ? little_endian(record + BR_SLOT_HEADER, 8) : 0;
}

static uint32_t address_of(const br_flash_slots* self, uint32_t slot, size_t offset) {
  return self->area_of[slot] * self->area_bytes + self->record_bytes + (uint32_t)(offset - BR_SLOT_HEADER);
}

static int erase_area(br_flash_slots* self, uint32_t area) {
  if (self->known_erased >> area & 1) return 0;
  for (uint32_t at = 0; at < self->area_bytes; at += self->flash.block_bytes)
    if (self->flash.erase(self->flash.context, area * self->area_bytes + at)) return 1;
  self->known_erased |= (uint32_t)1 << area;
  return 0;
}

/* What power cuts have left in areas that no slot has: a name that was to be gone may be in it. Once in a life. */
static int erase_remains(br_flash_slots* self) {
  if (self->is_clean) return 0;
  for (uint32_t at = 0; at < self->areas * self->area_bytes; at += BR_FLASH_PAGE) {
    const uint32_t area = at / self->area_bytes;
    uint32_t blank = 0;
    if (area == self->area_of[0] || area == self->area_of[1]) continue;
    if (self->flash.read(self->flash.context, at, self->pending, BR_FLASH_PAGE)) return 1;
    while (blank < BR_FLASH_PAGE && self->pending[blank] == 0xFF) ++blank;
    if (blank < BR_FLASH_PAGE && self->flash.erase(self->flash.context, at - at % self->flash.block_bytes)) return 1;
  }
  self->is_clean = 1;
  return 0;
}

static int flush(br_flash_slots* self) {
  const uint32_t unit = self->flash.unit, size = (self->pending_bytes + unit - 1) / unit * unit;
  if (!size) return 0;
  memset(self->pending + self->pending_bytes, 0xFF, size - self->pending_bytes);
  self->pending_bytes = 0;
  return self->flash.program(self->flash.context, self->pending_address, self->pending, size);
}

static int read_slot(void* context, uint32_t slot, size_t offset, void* bytes, size_t size) {
  const br_flash_slots* self = context;
  if (offset >= BR_SLOT_HEADER)
    return self->flash.read(self->flash.context, address_of(self, slot, offset), bytes, size);
  if (size > BR_SLOT_HEADER - offset) return 1; /* headers are read alone */
  memcpy(bytes, self->header[slot] + offset, size);
  return 0;
}

static int erase_slot(void* context, uint32_t slot, size_t size) {
  br_flash_slots* self = context;
  (void)size;
  self->pending_bytes = 0;
  self->has_written = self->has_header = 0;
  memset(self->header[slot], 0xFF, BR_SLOT_HEADER);
  if (erase_remains(self)) return 1;
  if (self->retired == NONE) { /* else a save has failed: its area is taken again */
    self->retired = self->area_of[slot];
    while (self->next == self->area_of[0] || self->next == self->area_of[1])
      self->next = (self->next + 1) % self->areas;
    self->area_of[slot] = self->next;
  }
  return erase_area(self, self->area_of[slot]);
}

static int write_header(br_flash_slots* self, uint32_t slot, const void* bytes, size_t size) {
  if (size != BR_SLOT_HEADER || self->pending_bytes) return 1;
  memcpy(self->pending, bytes, size);
  put_little_endian(self->pending + BR_SLOT_HEADER, ++self->writes, 8);
  put_little_endian(self->pending + RECORD - 4, device_crc32(0, self->pending, RECORD - 4), 4);
  self->pending_address = self->area_of[slot] * self->area_bytes;
  self->pending_bytes = RECORD;
  self->has_header = 1;
  memcpy(self->header[slot], bytes, size);
  return 0;
}

static int write_slot(void* context, uint32_t slot, size_t offset, const void* bytes, size_t size) {
  br_flash_slots* self = context;
  const uint8_t* from = bytes;
  self->known_erased &= ~((uint32_t)1 << self->area_of[slot]);
  self->has_written = 1;
  if (offset < BR_SLOT_HEADER) return write_header(self, slot, bytes, size);
  if (!self->pending_bytes) self->pending_address = address_of(self, slot, offset);
  while (size) {
    const size_t room = BR_FLASH_PAGE - self->pending_bytes, part = size < room ? size : room;
    memcpy(self->pending + self->pending_bytes, from, part);
    self->pending_bytes += (uint32_t)part;
    from += part;
    size -= part;
    if (self->pending_bytes < BR_FLASH_PAGE) break;
    if (flush(self)) return 1;
    self->pending_address += BR_FLASH_PAGE;
  }
  return 0;
}

/* With the header the slot has its new state; without anything written it has none. What it had is erased then. */
static int sync_slot(void* context, uint32_t slot) {
  br_flash_slots* self = context;
  (void)slot;
  if (flush(self)) return 1;
  if (self->retired == NONE || (self->has_written && !self->has_header)) return 0;
  if (erase_area(self, self->retired)) return 1;
  self->retired = NONE;
  return 0;
}

/* The areas of the two earliest writes. */
static int find_states(br_flash_slots* self) {
  uint64_t earliest[2] = {0, 0};
  for (uint32_t area = 0; area < self->areas; ++area) {
    uint8_t record[RECORD];
    if (self->flash.read(self->flash.context, area * self->area_bytes, record, RECORD)) return BR_STORAGE;
    const uint64_t write = write_of(record);
    if (!write) continue;
    if (write > self->writes) self->writes = write;
    if (earliest[1] && write > earliest[1]) continue;
    const uint32_t slot = earliest[0] && write > earliest[0];
    if (!slot) {
      earliest[1] = earliest[0];
      self->area_of[1] = self->area_of[0];
      memcpy(self->header[1], self->header[0], BR_SLOT_HEADER);
    }
    earliest[slot] = write;
    self->area_of[slot] = area;
    memcpy(self->header[slot], record, BR_SLOT_HEADER);
  }
  if (!earliest[1]) self->area_of[1] = (self->area_of[0] + 1) % self->areas;
  self->next = (self->area_of[1] + 1) % self->areas;
  return BR_OK;
}

int br_flash_open(br_flash_slots* self, const br_flash* flash, uint32_t areas) {
  if (!self || !flash || !flash->read || !flash->erase || !flash->program) return BR_BAD_ARGUMENT;
  if (!flash->unit || flash->unit > BR_FLASH_PAGE || (flash->unit & (flash->unit - 1))) return BR_BAD_ARGUMENT;
  if (areas < 3 || areas > BR_FLASH_MAX_AREAS || flash->blocks < areas) return BR_BAD_ARGUMENT;
  if (flash->block_bytes % BR_FLASH_PAGE || flash->block_bytes < 2 * BR_FLASH_PAGE) return BR_BAD_ARGUMENT;
  memset(self, 0, sizeof *self);
  self->flash = *flash;
  self->areas = areas;
  self->area_bytes = flash->blocks / areas * flash->block_bytes;
  self->record_bytes = (RECORD + flash->unit - 1) / flash->unit * flash->unit;
  self->retired = NONE;
  const br_slots slots = {
      self, self->area_bytes - self->record_bytes + BR_SLOT_HEADER, read_slot, erase_slot, write_slot, sync_slot};
  self->slots = slots;
  return find_states(self);
}
