/* A board at a serial port, for `bitreplay device` (docs/device.md): the first UART of qemu's mps2 boards.
 *
 * The flash is the one of exact_demo.c, with erase blocks: erasing sets bits, programming clears them. The camera sends
 * the JPEG of frame.h again and again.
 */
#include <string.h>

#include "bitreplay_device.h"
#include "board.h"
#include "frame.h"
#include "pictures.h" /* how much memory the learner is given */

enum { BLOCK = 4096, BLOCKS = 60, AREAS = 3, SIDE = 32 };

#define UART ((volatile uint32_t*)0x40004000) /* data, state, control, -, divider */

extern const unsigned char model[], model_end[];
static unsigned char memory[LEARNER_BYTES] __attribute__((aligned(64)));
static unsigned char nvm[BLOCKS * BLOCK] __attribute__((section(".nvm")));
static uint8_t room[SIDE * SIDE * 3];
static int32_t probabilities[LEARNER_CLASSES];

static int read_flash(void* context, uint32_t address, void* bytes, size_t size) {
  (void)context;
  memcpy(bytes, nvm + address, size);
  return 0;
}

static int erase_flash(void* context, uint32_t address) {
  (void)context;
  memset(nvm + address, 0xFF, BLOCK);
  return 0;
}

static int program_flash(void* context, uint32_t address, const void* bytes, size_t size) {
  const unsigned char* from = bytes;
  (void)context;
  for (size_t i = 0; i < size; ++i) nvm[address + i] &= from[i];
  return memcmp(nvm + address, bytes, size) != 0;
}

static int get_byte(void* context, int wait) {
  const uint64_t start = board_ticks();
  (void)context;
  while (!(UART[1] & 2))
    if (!wait || board_ticks() - start > 25000000) return -1; /* a second */
  return (int)(UART[0] & 0xFF);
}

static void put_bytes(void* context, const void* bytes, size_t size) {
  const unsigned char* from = bytes;
  (void)context;
  for (size_t i = 0; i < size; ++i) {
    while (UART[1] & 1) {}
    UART[0] = from[i];
  }
}

static int take_picture(void* context, br_picture* picture) {
  (void)context;
  return br_frame_jpeg(camera_frame, sizeof camera_frame, room, sizeof room, picture);
}

int main(void) {
  br_learner* learner;
  char error[128] = "";
  const br_learner_options options = {.classes = LEARNER_CLASSES};
  const br_flash flash = {0, BLOCK, BLOCKS, 256, read_flash, erase_flash, program_flash};
  static br_flash_slots slots;
  UART[4] = 16;
  UART[2] = 3;
  if (br_learner_open(model, (size_t)(model_end - model), &options, memory, sizeof memory, &learner, error,
                      sizeof error)) {
    board_say(error);
    return 2;
  }
  if (br_flash_open(&slots, &flash, AREAS)) return 3;
  const int loaded = br_learner_load(learner, &slots.slots);
  if (loaded && loaded != BR_NO_STATE) return 4;
  br_console console = {learner,     &slots.slots,  0,   get_byte, put_bytes, take_picture, room,
                        sizeof room, probabilities, {0}, 0,        0,         {0}};
  for (;;) br_console_poll(&console);
}
