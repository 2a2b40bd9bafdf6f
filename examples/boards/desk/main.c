/* A board's program on the desk: the learner behind standard input and output, its states in a file that is used as
 * flash.
 *
 *   desk model.bin state.flash [WIDTHxHEIGHT frame.grey | jpeg frame.jpg]       the frame is what its camera sees
 *
 * Behind a pseudo-terminal, `bitreplay device` takes it for a board; tests/device does that. What differs on a
 * board is in the six functions at the top.
 */
#define _XOPEN_SOURCE 600
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "bitreplay_device.h"

enum { CLASSES = 16, BLOCK = 4096, AREAS = 4, MAX_SIDE = 512 };

static FILE* flash_file;
static const char* frame_path;
static uint32_t frame_width, frame_height; /* 0: a JPEG */
static uint8_t frame[MAX_SIDE * MAX_SIDE], square[MAX_SIDE * MAX_SIDE * 3];

static int read_flash(void* context, uint32_t address, void* bytes, size_t size) {
  (void)context;
  return fseek(flash_file, (long)address, SEEK_SET) || fread(bytes, 1, size, flash_file) != size;
}

static int program_flash(void* context, uint32_t address, const void* bytes, size_t size) {
  (void)context;
  return fseek(flash_file, (long)address, SEEK_SET) || fwrite(bytes, 1, size, flash_file) != size || fflush(flash_file);
}

static int erase_flash(void* context, uint32_t address) {
  static uint8_t blank[BLOCK];
  memset(blank, 0xFF, sizeof blank);
  return program_flash(context, address, blank, sizeof blank);
}

static int get_byte(void* context, int wait) {
  struct pollfd input = {0, POLLIN, 0};
  uint8_t byte;
  (void)context;
  if (poll(&input, 1, wait ? 1000 : 0) <= 0) return -1;
  if (read(0, &byte, 1) != 1) exit(0); /* the desk has gone */
  return byte;
}

static void put_bytes(void* context, const void* bytes, size_t size) {
  const uint8_t* from = bytes;
  (void)context;
  while (size) {
    const ssize_t part = write(1, from, size);
    if (part < 0) exit(0);
    from += part;
    size -= (size_t)part;
  }
}

static int take_picture(void* context, br_picture* picture) {
  FILE* file = fopen(frame_path, "rb");
  const size_t size = (size_t)frame_width * frame_height;
  (void)context;
  if (!file) return 1;
  const size_t have = fread(frame, 1, size ? size : sizeof frame, file);
  fclose(file);
  if (!size) return br_frame_jpeg(frame, have, square, sizeof square, picture);
  if (have != size) return 1;
  br_frame_square(frame, frame_width, frame_height, BR_FRAME_GREY, square, picture);
  return 0;
}

static void* bytes_of(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) return 0;
  *size = (size_t)ftell(file);
  rewind(file);
  void* bytes = aligned_alloc(64, (*size + 63) / 64 * 64);
  if (bytes && fread(bytes, 1, *size, file) != *size) return 0;
  fclose(file);
  return bytes;
}

static FILE* open_flash(const char* path, uint32_t bytes) {
  flash_file = fopen(path, "r+b");
  if (flash_file) return flash_file;
  flash_file = fopen(path, "w+b");
  for (uint32_t at = 0; flash_file && at < bytes; at += BLOCK) erase_flash(0, at);
  return flash_file;
}

int main(int count, char** words) {
  br_learner* learner;
  br_learner_memory memory;
  const br_learner_options options = {.classes = CLASSES};
  size_t model_bytes;
  char error[128] = "";
  static int32_t probabilities[CLASSES];
  static uint8_t room[MAX_SIDE * MAX_SIDE * 3];
  if (count != 3 && count != 5) return 2;
  if (count == 5 && strcmp(words[3], "jpeg") && sscanf(words[3], "%ux%u", &frame_width, &frame_height) != 2) return 2;
  if (frame_width > MAX_SIDE || frame_height > MAX_SIDE) return 2;
  frame_path = count == 5 ? words[4] : 0;
  void* model = bytes_of(words[1], &model_bytes);
  if (!model || br_learner_plan(model, model_bytes, &options, &memory, error, sizeof error)) {
    fprintf(stderr, "%s\n", error);
    return 1;
  }
  if (br_learner_open(model, model_bytes, &options, aligned_alloc(64, (memory.total + 63) / 64 * 64), memory.total,
                      &learner, error, sizeof error))
    return 1;

  const uint32_t blocks = AREAS * (uint32_t)((memory.state + 16384 + BLOCK - 1) / BLOCK);
  const br_flash flash = {0, BLOCK, blocks, 256, read_flash, erase_flash, program_flash};
  static br_flash_slots slots;
  if (!open_flash(words[2], blocks * BLOCK) || br_flash_open(&slots, &flash, AREAS)) return 1;
  const int loaded = br_learner_load(learner, &slots.slots);
  if (loaded && loaded != BR_NO_STATE) fprintf(stderr, "%s\n", br_error_text(loaded));

  br_console console = {
      learner,       &slots.slots, 0, get_byte, put_bytes, frame_path ? take_picture : 0, room, sizeof room,
      probabilities, {0},          0, 0,        {0}};
  struct termios line;
  if (!tcgetattr(0, &line)) { /* raw, as a serial line is */
    line.c_lflag &= (tcflag_t) ~(ICANON | ECHO | ISIG | IEXTEN);
    line.c_iflag &= (tcflag_t) ~(ICRNL | INLCR | IXON | IXOFF | ISTRIP);
    line.c_oflag &= (tcflag_t)~OPOST;
    tcsetattr(0, TCSANOW, &line);
  }
  put_bytes(0, "ready\n", 6); /* a line of the board's own */
  for (;;) {
    struct pollfd input = {0, POLLIN, 0};
    poll(&input, 1, -1);
    br_console_poll(&console);
  }
}
