/* A learner at the USB port of a Raspberry Pi Pico, its states in the last 256 KB of its flash.
 *
 *   bitreplay device /dev/ttyACM0 teach cup 1.jpg 2.jpg
 */
#include <string.h>

#include "bitreplay_device.h"
#include "bitreplay_model.h"
#include "hardware/flash.h"
#include "hardware/sync.h"
#include "pico/stdlib.h"

enum { BLOCKS = 64, AREAS = 4 };

#define REGION (PICO_FLASH_SIZE_BYTES - BLOCKS * FLASH_SECTOR_SIZE)

static uint8_t memory[BITREPLAY_LEARNER_BYTES] __attribute__((aligned(64)));
static uint8_t room[BITREPLAY_SIDE * BITREPLAY_SIDE * 3];
static int32_t probabilities[BITREPLAY_CLASSES];
static br_flash_slots slots;
static br_console console;

static int get_byte(void* context, int wait) {
  const int byte = getchar_timeout_us(wait ? 1000000 : 0);
  (void)context;
  return byte < 0 ? -1 : byte;
}

static void put_bytes(void* context, const void* bytes, size_t size) {
  const uint8_t* from = bytes;
  (void)context;
  for (size_t i = 0; i < size; ++i) putchar_raw(from[i]);
  stdio_flush();
}

static int read_flash(void* context, uint32_t address, void* bytes, size_t size) {
  (void)context;
  memcpy(bytes, (const uint8_t*)(XIP_BASE + REGION) + address, size);
  return 0;
}

/* Nothing may run from flash meanwhile; these two functions of the SDK are in RAM. */
static int erase_flash(void* context, uint32_t address) {
  const uint32_t interrupts = save_and_disable_interrupts();
  (void)context;
  flash_range_erase(REGION + address, FLASH_SECTOR_SIZE);
  restore_interrupts(interrupts);
  return 0;
}

static int program_flash(void* context, uint32_t address, const void* bytes, size_t size) {
  const uint32_t interrupts = save_and_disable_interrupts();
  (void)context;
  flash_range_program(REGION + address, bytes, size);
  restore_interrupts(interrupts);
  return 0;
}

int main(void) {
  const br_learner_options options = {.classes = BITREPLAY_CLASSES};
  const br_flash flash = {0, FLASH_SECTOR_SIZE, BLOCKS, FLASH_PAGE_SIZE, read_flash, erase_flash, program_flash};
  char error[128] = "";
  stdio_init_all();
  while (br_learner_open(bitreplay_model, BITREPLAY_MODEL_BYTES, &options, memory, sizeof memory, &console.learner,
                         error, sizeof error)) {
    put_bytes(0, error, strlen(error));
    sleep_ms(1000);
  }
  if (!br_flash_open(&slots, &flash, AREAS)) {
    console.slots = &slots.slots;
    br_learner_load(console.learner, console.slots);
  }
  console.get = get_byte;
  console.put = put_bytes;
  console.room = room;
  console.room_bytes = sizeof room;
  console.probabilities = probabilities;
  for (;;) br_console_poll(&console);
}
