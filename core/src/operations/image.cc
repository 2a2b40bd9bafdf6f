// image_table: engine/layers/image.py.
#include "machine/operation.h"

namespace bitreplay {
namespace image_table {

enum { IMAGE, TABLE, Y };

void check(Checker& c) {
  c.per_sample(IMAGE, type_bit(BR_UINT8), 3);
  c.whole(TABLE, type_bit(BR_INT16), 2);
  c.per_sample(Y, type_bit(BR_INT16), 3);
  c.same_shape(IMAGE, Y);
  if (c.ok())
    c.require(c.size(TABLE, 0) == 256 && c.size(TABLE, 1) == c.size(IMAGE, 2), "the table has the wrong size");
}

int run(const Call& c) {
  const int64_t colours = c.size(IMAGE, 2), size = c.samples() * c.elements(IMAGE);
  const uint8_t* image = c.data<uint8_t>(IMAGE);
  const int16_t* table = c.data<int16_t>(TABLE);
  int16_t* y = c.data<int16_t>(Y);
  for (int64_t i = 0; i < size; i += colours)
    for (int64_t colour = 0; colour < colours; ++colour) y[i + colour] = table[image[i + colour] * colours + colour];
  return BR_OK;
}

}  // namespace image_table

extern const Operation kImageTable = {.name = "image_table",
                                      .code = 60,
                                      .reads = "image table",
                                      .writes = "y",
                                      .check = image_table::check,
                                      .run = image_table::run};

}  // namespace bitreplay
