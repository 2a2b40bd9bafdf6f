/* A camera's JPEG as a square of RGB, at an eighth of its size: of every 8x8 block its mean.
 *
 * The mean is the block's first coefficient (DC) times its quantizer, so that there is no transform: the others (AC)
 * are read and left out. Baseline, Huffman, 8 bits, grey or YCbCr with 1 or 2 blocks of a component across and down:
 * what cameras send. All arithmetic is in integers, as ITU T.81 and JFIF have it, and rounds as libjpeg does.
 *
 * A frame that ends early or breaks a rule is refused: cameras send such frames now and then. The next one is whole.
 */
#include "bitreplay_device.h"

enum { TABLES = 2, MAX_COMPONENTS = 3, MAX_DC_BITS = 11, MAX_DC = 32767 };
enum {
  SOF0 = 0xC0,
  SOF1 = 0xC1,
  DHT = 0xC4,
  RST0 = 0xD0,
  SOI = 0xD8,
  SOS = 0xDA,
  DQT = 0xDB,
  DRI = 0xDD,
  APP0 = 0xE0,
  COM = 0xFE
};

/* Canonical Huffman codes: `counts` of each length, and the symbols in the order of their codes. */
typedef struct {
  uint16_t counts[16];
  uint8_t symbols[256];
} codes;

typedef struct {
  uint32_t id, across, down, quantizer, dc, ac;
  int32_t value; /* the DC of the block before */
} component;

typedef struct {
  const uint8_t *at, *end;
  uint32_t bits, bit_count; /* what is left of the last byte */
  codes dc[TABLES], ac[TABLES];
  int32_t quantizers[4]; /* of DC; 0: not defined */
  component components[MAX_COMPONENTS];
  uint32_t count, width, height, interval;
} reader;

static int32_t clipped(int32_t value) { return value < 0 ? 0 : value > 255 ? 255 : value; }

/* floor(value / 2^bits), where value is above -2^30 */
static int32_t shifted(int32_t value, uint32_t bits) {
  return (int32_t)(((uint32_t)value + 0x40000000u) >> bits) - (int32_t)(0x40000000u >> bits);
}

/* The next bit of the scan, or -1 where it ends. */
static int next_bit(reader* from) {
  if (!from->bit_count) {
    if (from->at == from->end) return -1;
    from->bits = *from->at++;
    if (from->bits == 0xFF && (from->at == from->end || *from->at++)) return -1; /* a marker */
    from->bit_count = 8;
  }
  return (int)(from->bits >> --from->bit_count & 1);
}

static int32_t next_bits(reader* from, uint32_t count) {
  int32_t value = 0;
  while (count--) {
    const int bit = next_bit(from);
    if (bit < 0) return -1;
    value = value << 1 | bit;
  }
  return value;
}

/* The next symbol, or -1. */
static int next_symbol(reader* from, const codes* table) {
  int32_t code = 0, first = 0, index = 0;
  for (int length = 0; length < 16; ++length) {
    const int bit = next_bit(from);
    if (bit < 0) return -1;
    code |= bit;
    const int32_t count = table->counts[length];
    if (code - first < count) return table->symbols[index + (code - first)];
    index += count;
    first = (first + count) << 1;
    code <<= 1;
  }
  return -1;
}

/* Reads a block and keeps its DC. */
static int read_block(reader* from, component* of) {
  const int size = next_symbol(from, &from->dc[of->dc]);
  if (size < 0 || size > MAX_DC_BITS) return BR_MALFORMED;
  if (size) {
    const int32_t bits = next_bits(from, (uint32_t)size);
    if (bits < 0) return BR_MALFORMED;
    of->value += bits >> (size - 1) ? bits : bits - (1 << size) + 1;
    if (of->value > MAX_DC || of->value < -MAX_DC) return BR_MALFORMED;
  }
  for (int k = 1; k < 64; ++k) {
    const int symbol = next_symbol(from, &from->ac[of->ac]);
    if (symbol < 0) return BR_MALFORMED;
    const int run = symbol >> 4, bits = symbol & 15;
    if (!bits && run != 15) {
      if (run) return BR_MALFORMED; /* of progressive files */
      break;
    }
    k += run;
    if (k > 63 || next_bits(from, (uint32_t)bits) < 0) return BR_MALFORMED;
  }
  return BR_OK;
}

/* The mean of a block: 0 to 255. */
static int32_t mean(const reader* from, const component* of, int32_t value) {
  return clipped(128 + shifted(value * from->quantizers[of->quantizer] + 4, 3));
}

/* A segment's content, which begins behind its length; null where it ends too early. */
static const uint8_t* next_segment(reader* from, uint32_t* size) {
  if (from->end - from->at < 2) return 0;
  const uint32_t length = (uint32_t)from->at[0] << 8 | from->at[1];
  const uint8_t* content = from->at + 2;
  if (length < 2 || (size_t)(from->end - from->at) < length) return 0;
  *size = length - 2;
  from->at += length;
  return content;
}

static int read_huffman(reader* to, const uint8_t* at, uint32_t size) {
  while (size) {
    if (size < 17 || at[0] & 0xEE) return BR_MALFORMED;
    codes* table = at[0] >> 4 ? &to->ac[at[0] & 1] : &to->dc[at[0] & 1];
    uint32_t count = 0;
    for (int k = 0; k < 16; ++k) count += table->counts[k] = at[1 + k];
    if (count > 256 || size < 17 + count) return BR_MALFORMED;
    for (uint32_t k = 0; k < count; ++k) table->symbols[k] = at[17 + k];
    at += 17 + count;
    size -= 17 + count;
  }
  return BR_OK;
}

static int read_quantizers(reader* to, const uint8_t* at, uint32_t size) {
  for (; size; at += 65, size -= 65) {
    if (size < 65 || at[0] > 3 || !at[1]) return BR_MALFORMED;
    to->quantizers[at[0]] = at[1];
  }
  return BR_OK;
}

static int read_frame(reader* to, const uint8_t* at, uint32_t size) {
  if (to->count || size < 6 || at[0] != 8) return BR_MALFORMED;
  to->height = (uint32_t)at[1] << 8 | at[2];
  to->width = (uint32_t)at[3] << 8 | at[4];
  to->count = at[5];
  if (!to->width || !to->height || (to->count != 1 && to->count != 3) || size != 6 + 3 * to->count) return BR_MALFORMED;
  for (uint32_t k = 0; k < to->count; ++k) {
    component* of = &to->components[k];
    at += k ? 3 : 6;
    of->id = at[0];
    of->across = to->count == 1 ? 1 : at[1] >> 4; /* one component alone has a block after the other */
    of->down = to->count == 1 ? 1 : at[1] & 15;
    of->quantizer = at[2];
    if (of->across < 1 || of->across > 2 || of->down < 1 || of->down > 2 || of->quantizer > 3) return BR_MALFORMED;
  }
  return BR_OK;
}

static int read_scan_head(reader* to, const uint8_t* at, uint32_t size) {
  if (!to->count || size != 4 + 2 * to->count || at[0] != to->count) return BR_MALFORMED;
  for (uint32_t k = 0; k < to->count; ++k) {
    component* of = &to->components[k];
    const uint32_t tables = at[2 + 2 * k];
    if (at[1 + 2 * k] != of->id || tables & 0xEE || !to->quantizers[of->quantizer]) return BR_MALFORMED;
    of->dc = tables >> 4;
    of->ac = tables & 1;
  }
  return BR_OK;
}

/* All segments up to the scan. */
static int read_head(reader* from) {
  if (from->end - from->at < 2 || from->at[0] != 0xFF || from->at[1] != SOI) return BR_MALFORMED;
  from->at += 2;
  for (;;) {
    if (from->at == from->end || *from->at++ != 0xFF) return BR_MALFORMED;
    while (from->at != from->end && *from->at == 0xFF) ++from->at;
    if (from->at == from->end) return BR_MALFORMED;
    const uint8_t marker = *from->at++;
    uint32_t size;
    const uint8_t* content = next_segment(from, &size);
    if (!content) return BR_MALFORMED;
    int failed = BR_OK;
    if (marker == DHT) failed = read_huffman(from, content, size);
    else if (marker == DQT) failed = read_quantizers(from, content, size);
    else if (marker == SOF0 || marker == SOF1) failed = read_frame(from, content, size);
    else if (marker == SOS) return read_scan_head(from, content, size);
    else if (marker == DRI && size == 2) from->interval = (uint32_t)content[0] << 8 | content[1];
    else if (marker != COM && (marker & 0xF0) != APP0) return BR_MALFORMED;
    if (failed) return failed;
  }
}

/* The marker between two intervals, the n-th. */
static int restart(reader* from, uint32_t n) {
  from->bit_count = 0;
  if (from->end - from->at < 2 || from->at[0] != 0xFF || from->at[1] != RST0 + n % 8) return BR_MALFORMED;
  from->at += 2;
  for (uint32_t k = 0; k < from->count; ++k) from->components[k].value = 0;
  return BR_OK;
}

int br_frame_jpeg(const uint8_t* frame, size_t bytes, uint8_t* square, size_t square_bytes, br_picture* picture) {
  reader from = {0};
  if (!frame || !square || !picture) return BR_BAD_ARGUMENT;
  from.at = frame;
  from.end = frame + bytes;
  const int failed = read_head(&from);
  if (failed) return failed;
  const uint32_t width = (from.width + 7) / 8, height = (from.height + 7) / 8; /* in blocks: pixels of the answer */
  const uint32_t side = width < height ? width : height, left = (width - side) / 2, top = (height - side) / 2;
  if (square_bytes < (size_t)3 * side * side) return BR_NO_MEMORY;

  uint32_t across = 1, down = 1; /* blocks that are read at once (an MCU) */
  for (uint32_t k = 0; k < from.count; ++k) {
    if (from.components[k].across > across) across = from.components[k].across;
    if (from.components[k].down > down) down = from.components[k].down;
  }
  uint32_t done = 0;
  for (uint32_t y = 0; y < height; y += down)
    for (uint32_t x = 0; x < width; x += across, ++done) {
      if (from.interval && done && done % from.interval == 0 && restart(&from, done / from.interval - 1))
        return BR_MALFORMED;
      int32_t values[MAX_COMPONENTS][2][2];
      for (uint32_t k = 0; k < from.count; ++k) {
        component* of = &from.components[k];
        for (uint32_t i = 0; i < of->down; ++i)
          for (uint32_t j = 0; j < of->across; ++j) {
            if (read_block(&from, of)) return BR_MALFORMED;
            values[k][i][j] = mean(&from, of, of->value);
          }
      }
      for (uint32_t i = 0; i < down; ++i)
        for (uint32_t j = 0; j < across; ++j) {
          const uint32_t row = y + i - top, column = x + j - left; /* large where it lies before the square */
          if (row >= side || column >= side) continue;
          int32_t v[MAX_COMPONENTS] = {0, 128, 128};
          for (uint32_t k = 0; k < from.count; ++k)
            v[k] = values[k][i * from.components[k].down / down][j * from.components[k].across / across];
          const int32_t blue = v[1] - 128, red = v[2] - 128;
          uint8_t* to = square + 3 * ((size_t)row * side + column);
          to[0] = (uint8_t)clipped(v[0] + shifted(91881 * red + 32768, 16)); /* 1.402 and so on, times 2^16 */
          to[1] = (uint8_t)clipped(v[0] + shifted(-22554 * blue - 46802 * red + 32768, 16));
          to[2] = (uint8_t)clipped(v[0] + shifted(116130 * blue + 32768, 16));
        }
    }
  const br_picture found = {square, side, side, 3, 0};
  *picture = found;
  return BR_OK;
}
