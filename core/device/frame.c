/* A camera's frame as a square of RGB, in place.
 *
 * Pixel (y, x) of the square is read at offset + b (y w + m + x), m the margin, b the bytes of a pixel, and written
 * at 3 (y s + x). What is written must not reach what is still to be read: 3 (y s + x) + 3 <= offset + b (y w + m +
 * x) + b. Both sides are linear in y and x, so that the four corners decide.
 */
#include "bitreplay_device.h"

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

static uint32_t pixel_bytes(enum br_frame_format format) { return format == BR_FRAME_GREY ? 1 : 2; }

size_t br_frame_offset(uint32_t width, uint32_t height, enum br_frame_format format) {
  const uint32_t side = least(width, height), b = pixel_bytes(format);
  const int64_t start = (int64_t)b * ((height - side) / 2 * width + (width - side) / 2);
  int64_t most = 0;
  for (int corner = 0; corner < 4; ++corner) {
    const int64_t y = corner & 1 ? side - 1 : 0, x = corner & 2 ? side - 1 : 0;
    const int64_t need = 3 * (y * side + x) + 3 - (start + b * (y * width + x) + b);
    if (need > most) most = need;
  }
  return (size_t)most;
}

void br_frame_square(const uint8_t* frame, uint32_t width, uint32_t height, enum br_frame_format format,
                     uint8_t* square, br_picture* picture) {
  const uint32_t side = least(width, height), b = pixel_bytes(format);
  uint8_t* to = square;
  for (uint32_t y = 0; y < side; ++y) {
    const uint8_t* from = frame + (size_t)b * (((height - side) / 2 + y) * width + (width - side) / 2);
    for (uint32_t x = 0; x < side; ++x, from += b, to += 3) {
      uint8_t red = from[0], green = from[0], blue = from[0];
      if (format != BR_FRAME_GREY) {
        const uint32_t value = format == BR_FRAME_RGB565 ? from[0] << 8 | from[1] : from[1] << 8 | from[0];
        const uint32_t r = value >> 11, g = value >> 5 & 63, blue5 = value & 31;
        red = (uint8_t)(r << 3 | r >> 2); /* 31 becomes 255 */
        green = (uint8_t)(g << 2 | g >> 4);
        blue = (uint8_t)(blue5 << 3 | blue5 >> 2);
      }
      to[0] = red;
      to[1] = green;
      to[2] = blue;
    }
  }
  const br_picture found = {square, side, side, 3, 0};
  *picture = found;
}
