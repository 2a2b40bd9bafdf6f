/* clang's libFuzzer on br_frame_jpeg: bytes in, whatever they are.
 *
 *   fuzz_jpeg -runs=N FOLDER      frames to begin with: python -m tests.device.test_jpeg FOLDER
 *
 * Frame and square are allocated to the byte, so that the address sanitizer sees what lies beyond. What was decoded is
 * decoded again into as many bytes as it needs, and not into one less.
 */
#include <stdlib.h>
#include <string.h>

#include "bitreplay_device.h"

enum { ROOM = 3 * 64 * 64 };

static int decode(const uint8_t* frame, size_t bytes, size_t room, br_picture* picture, uint8_t** square) {
  *square = calloc(room, 1);
  return br_frame_jpeg(frame, bytes, *square, room, picture);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  uint8_t *frame = malloc(size + 1), *first, *again, *less;
  br_picture picture, other;
  memcpy(frame + 1, data, size); /* what is read ends where the allocation does */
  const int failed = decode(frame + 1, size, ROOM, &picture, &first);
  if (!failed) {
    const size_t need = (size_t)3 * picture.width * picture.height;
    if (need > ROOM || decode(frame + 1, size, need, &other, &again) || memcmp(first, again, need)) abort();
    if (decode(frame + 1, size, need - 1, &other, &less) != BR_NO_MEMORY) abort();
    free(again);
    free(less);
  }
  free(first);
  free(frame);
  return 0;
}
