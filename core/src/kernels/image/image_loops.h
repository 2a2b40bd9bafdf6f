// Loops of image_table: engine/layers/image.py.
#pragma once
#if defined(__AVX512VBMI__)
#include <immintrin.h>
#endif

#include <cstring>

#include "machine/call.h"

namespace bitreplay {
namespace image_table {
namespace {

enum { IMAGE, TABLE, Y };

#if defined(__AVX512VBMI__)
// The low and the high bytes of one colour's 256 numbers, in four registers each.
struct ColourTable {
  alignas(64) uint8_t bytes[2][256];

  __m512i look_up(int half, __m512i at) const {
    const __m512i* parts = reinterpret_cast<const __m512i*>(bytes[half]);
    const __m512i low = _mm512_permutex2var_epi8(parts[0], at, parts[1]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(at), low, _mm512_permutex2var_epi8(parts[2], at, parts[3]));
  }
};

// Every colour's number for all places, and of these each place's own. Three vectors of 64 bytes are 64 pixels.
void look_up_three(const uint8_t* image, const int16_t* table, int64_t size, int16_t* y) {
  constexpr int64_t kColours = 3, kBytes = 64;
  ColourTable tables[kColours];
  __mmask64 own[kColours][kColours] = {};  // of a vector, of a colour
  for (int64_t colour = 0; colour < kColours; ++colour)
    for (int64_t i = 0; i < 256; ++i)
      for (int half = 0; half < 2; ++half)
        tables[colour].bytes[half][i] = uint8_t(uint16_t(table[kColours * i + colour]) >> (8 * half));
  for (int64_t i = 0; i < kColours * kBytes; ++i) own[i / kBytes][i % kColours] |= __mmask64(1) << (i % kBytes);
  for (int64_t at = 0, vector = 0; at < size; at += kBytes, vector = (vector + 1) % kColours) {
    const __mmask64 there = size - at >= kBytes ? ~__mmask64(0) : (__mmask64(1) << (size - at)) - 1;
    const __m512i x = _mm512_maskz_loadu_epi8(there, image + at);
    __m512i halves[2];
    for (int half = 0; half < 2; ++half) {
      halves[half] = tables[0].look_up(half, x);
      for (int64_t colour = 1; colour < kColours; ++colour)
        halves[half] = _mm512_mask_blend_epi8(own[vector][colour], halves[half], tables[colour].look_up(half, x));
    }
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11),
                  second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    const __m512i low = _mm512_unpacklo_epi8(halves[0], halves[1]), high = _mm512_unpackhi_epi8(halves[0], halves[1]);
    _mm512_mask_storeu_epi16(y + at, __mmask32(there), _mm512_permutex2var_epi64(low, first, high));
    _mm512_mask_storeu_epi16(y + at + kBytes / 2, __mmask32(there >> 32), _mm512_permutex2var_epi64(low, second, high));
  }
}
#elif defined(__AVX2__)
// A pixel's three numbers are one of 64 bits, each colour's in its place; the next pixel overwrites what is behind.
void look_up_three(const uint8_t* image, const int16_t* table, int64_t size, int16_t* y) {
  uint64_t tables[3][256];
  for (int colour = 0; colour < 3; ++colour)
    for (int i = 0; i < 256; ++i) tables[colour][i] = uint64_t(uint16_t(table[3 * i + colour])) << (16 * colour);
  for (int64_t i = 0; i < size; i += 3) {
    const uint64_t pixel = tables[0][image[i]] | tables[1][image[i + 1]] | tables[2][image[i + 2]];
    memcpy(y + i, &pixel, i + 3 < size ? sizeof pixel : 3 * sizeof *y);
  }
}
#else
void look_up_three(const uint8_t* image, const int16_t* table, int64_t size, int16_t* y) {
  for (int64_t i = 0; i < size; i += 3) {
    const int64_t red = image[i], green = image[i + 1], blue = image[i + 2];
    y[i] = table[3 * red];
    y[i + 1] = table[3 * green + 1];
    y[i + 2] = table[3 * blue + 2];
  }
}
#endif

int run(const Call& c) {
  const int64_t colours = c.size(IMAGE, 2), size = c.samples() * c.elements(IMAGE);
  const uint8_t* image = c.data<uint8_t>(IMAGE);
  const int16_t* table = c.data<int16_t>(TABLE);
  int16_t* y = c.data<int16_t>(Y);
  if (colours == 3) {
    look_up_three(image, table, size, y);
    return BR_OK;
  }
  for (int64_t i = 0; i < size; i += colours)
    for (int64_t colour = 0; colour < colours; ++colour) y[i + colour] = table[image[i + colour] * colours + colour];
  return BR_OK;
}

}  // namespace
}  // namespace image_table
}  // namespace bitreplay
