// integer_conv: engine/layers/integer_conv.py.
#include "machine/operation.h"
#include "operations/affine/affine_arguments.h"
#include "operations/window.h"

namespace bitreplay {
namespace integer_conv {

enum { X, W, SUMS };
enum { X_ZERO, STRIDE, PAD, DOWN };

void check(Checker& c) {
  c.per_sample(X, kStored, 3);
  c.whole(W, kStored, 4);
  c.per_sample(SUMS, type_bit(BR_INT32), 3);
  c.value(X_ZERO);
  c.shift(DOWN);
  check_convolution(c, W, X, SUMS);
}

IntegerConvArgs arguments(const Call& c) {
  IntegerConvArgs a = window_arguments<IntegerConvArgs>(c, X, W, SUMS, STRIDE, PAD);
  a.channels = c.size(X, 2);
  a.x_zero = c.attribute(X_ZERO);
  a.down = c.attribute(DOWN);
  a.x_type = c.type(X);
  a.w_type = c.type(W);
  return a;
}

uint64_t packed_weights_bytes(const Call& c) { return c.kernels().integer_conv.packed_weights_bytes(arguments(c)); }

void pack_weights(const Call& c, uint8_t* packed_weights) {
  IntegerConvArgs a = arguments(c);
  a.w = c.bytes(W);
  c.kernels().integer_conv.pack_weights(a, packed_weights);
}

IntegerConvArgs with_tensors(const Call& c) {
  IntegerConvArgs a = arguments(c);
  a.x = c.bytes(X);
  a.w = c.bytes(W);
  a.packed_weights = c.packed_weights();
  a.sums = c.data<int32_t>(SUMS);
  return a;
}

int run(const Call& c) {
  c.kernels().integer_conv.run(with_tensors(c));
  return BR_OK;
}

uint64_t prepared_bytes(const Call& c, const Call& next) {
  const auto bytes = c.kernels().integer_conv.prepared_bytes;
  return bytes && affine::is_constant(next) ? bytes(arguments(c), affine::arguments(next)) : 0;
}

void prepare(const Call& c, const Call& next, uint8_t* prepared) {
  c.kernels().integer_conv.prepare_affine(arguments(c), affine::arguments(next), prepared);
}

bool run_into(const Call& c, const Call& next) {
  const auto run = c.kernels().integer_conv.run_affine;
  if (run && run(with_tensors(c), affine::arguments(next), c.prepared())) return true;
  return !c.bytes(SUMS) && integer_conv_scalar_affine(with_tensors(c), affine::arguments(next));
}

}  // namespace integer_conv

extern const Operation kIntegerConv = {.name = "integer_conv",
                                       .code = 50,
                                       .reads = "x w",
                                       .writes = "sums",
                                       .attributes = "x_zero stride pad down",
                                       .check = integer_conv::check,
                                       .run = integer_conv::run,
                                       .weights = integer_conv::W,
                                       .packed_weights_bytes = integer_conv::packed_weights_bytes,
                                       .pack_weights = integer_conv::pack_weights,
                                       .passes = integer_conv::SUMS,
                                       .placeless = true,
                                       .run_into = integer_conv::run_into,
                                       .prepared_bytes = integer_conv::prepared_bytes,
                                       .prepare = integer_conv::prepare};

}  // namespace bitreplay
