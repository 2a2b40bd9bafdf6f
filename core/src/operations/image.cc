// image_table: engine/layers/image.py.
#include "kernels/image/image_loops.h"
#include "machine/operation.h"

namespace bitreplay {
namespace image_table {

void check(Checker& c) {
  c.per_sample(IMAGE, type_bit(BR_UINT8), 3);
  c.whole(TABLE, type_bit(BR_INT16), 2);
  c.per_sample(Y, type_bit(BR_INT16), 3);
  c.same_shape(IMAGE, Y);
  if (c.ok())
    c.require(c.size(TABLE, 0) == 256 && c.size(TABLE, 1) == c.size(IMAGE, 2), "the table has the wrong size");
}

}  // namespace image_table

extern const Operation kImageTable = {.name = "image_table",
                                      .code = 60,
                                      .reads = "image table",
                                      .writes = "y",
                                      .check = image_table::check,
                                      .run = image_table::run};

}  // namespace bitreplay
