/* What a board needs around the learner: a camera's frame as a square, states in flash, commands over a serial
 * line. C99.
 *
 * No heap and no dependencies but bitreplay_learner.h. Each part can be used without the others. Functions that
 * return int return BR_OK or another value of `enum br_error`.
 */
#ifndef BITREPLAY_DEVICE_H
#define BITREPLAY_DEVICE_H

#include "bitreplay_learner.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- A camera's frame: frame.c, jpeg.c ---- */

enum br_frame_format {
  BR_FRAME_GREY = 1,      /* a byte of brightness */
  BR_FRAME_RGB565 = 2,    /* two bytes, the high one first, as cameras send them */
  BR_FRAME_RGB565_LE = 3, /* two bytes, the low one first */
};

/* How far behind `square` a frame may begin so that the square can be written over it: its camera and
 * br_frame_square then share one array of br_frame_offset + width * height * bytes per pixel, or of 3 * side * side
 * if that is more. */
size_t br_frame_offset(uint32_t width, uint32_t height, enum br_frame_format format);
/* The middle square of a frame, side = min(width, height), as RGB in square[side][side][3], and `*picture` for the
 * learner. `square` overlaps the frame in no other way than br_frame_offset allows. */
void br_frame_square(const uint8_t* frame, uint32_t width, uint32_t height, enum br_frame_format format,
                     uint8_t* square, br_picture* picture);

/* The middle square of a JPEG at an eighth of its size, of every 8x8 block the mean: side = min(width, height) / 8,
 * rounded up; 60 of a VGA frame. `square` has room for 3 * side * side bytes. BR_MALFORMED of a frame that is damaged
 * or no baseline JPEG (jpeg.c says which are read), BR_NO_MEMORY if `square_bytes` are too few. It takes 2 KB of the
 * stack. */
int br_frame_jpeg(const uint8_t* frame, size_t bytes, uint8_t* square, size_t square_bytes, br_picture* picture);

/* ---- States in flash: flash_slots.c ---- */

/* A region of flash for states. Addresses begin at 0. A block is erased as a whole and then has bytes of 255; a unit is
 * programmed once until its block is erased again. Callbacks return 0, or anything else on failure. */
typedef struct br_flash {
  void* context;
  uint32_t block_bytes; /* 4,096 on most boards */
  uint32_t blocks;      /* of the region */
  uint32_t unit;        /* what is programmed at once: a power of two up to BR_FLASH_PAGE */
  int (*read)(void* context, uint32_t address, void* bytes, size_t size);
  int (*erase)(void* context, uint32_t address);
  int (*program)(void* context, uint32_t address, const void* bytes, size_t size); /* whole units */
} br_flash;

#define BR_FLASH_PAGE 256
#define BR_FLASH_MAX_AREAS 32

/* `slots` is for br_learner_save and br_learner_load; the other fields are its own. */
typedef struct br_flash_slots {
  br_slots slots;
  br_flash flash;
  uint32_t areas, area_bytes, record_bytes;
  uint32_t area_of[2];
  uint8_t header[2][BR_SLOT_HEADER];
  uint64_t writes;
  uint32_t known_erased; /* a bit for each area that was erased since br_flash_open */
  uint32_t next, retired;
  uint32_t is_clean, has_written, has_header;
  uint32_t pending_address, pending_bytes;
  uint8_t pending[BR_FLASH_PAGE];
} br_flash_slots;

/* Divides the region into `areas` of equal size, 3 to BR_FLASH_MAX_AREAS, and finds the states in them. A state takes
 * an area, two of them have one at any time, and each save goes to the next free one: a block is erased once in `areas`
 * - 1 saves, and an area once more for the first save after a start. What a save replaces is erased when it is done, so
 * that nothing is left of what was forgotten. The structure must stay where it is. BR_STORAGE if the flash cannot be
 * read. */
int br_flash_open(br_flash_slots* slots, const br_flash* flash, uint32_t areas);

/* ---- Commands over a serial line: console.c, docs/device.md ---- */

#define BR_CONSOLE_LINE 256

typedef struct br_console {
  br_learner* learner;
  const br_slots* slots; /* null: states are not saved */
  void* context;
  int (*get)(void* context, int wait); /* the next byte; -1 if there is none, if `wait` within a second */
  void (*put)(void* context, const void* bytes, size_t size);
  int (*capture)(void* context, br_picture* picture); /* takes a picture and returns 0; null: there is no camera */
  uint8_t* room;                                      /* for a picture that the desk sends */
  size_t room_bytes;                                  /* side * side * 3 of the network's input */
  int32_t* probabilities;                             /* [classes that the learner has room for] */

  br_picture sent; /* the picture that the desk sent, if `has_sent` */
  int has_sent;
  size_t length;
  char line[BR_CONSOLE_LINE];
} br_console;

/* Reads what has come and runs a command when its line is whole. Call it again and again; the fields up to
 * `probabilities` are the caller's, the others begin as 0. */
void br_console_poll(br_console* console);

#ifdef __cplusplus
}
#endif
#endif
