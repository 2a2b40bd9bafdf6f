// depthwise_conv, learned_depthwise and their gradients: engine/layers/depthwise_conv.py.
#include "arithmetic/pixels.h"
#include "arithmetic/quant.h"
#include "arithmetic/sgd.h"
#include "arithmetic/sliding_window.h"
#include "kernels/integer_conv/depthwise_conv_loops.h"
#include "machine/operation.h"
#include "operations/affine/affine_arguments.h"

namespace bitreplay {
namespace {

// Weights (channels, kernel, kernel) between two maps of as many channels.
void check_geometry(Checker& c, int weights, int map, int result) {
  c.square(weights, 1);
  c.window(map, result);
  if (!c.ok()) return;
  c.require(c.size(weights, 0) == c.size(map, 2) && c.size(weights, 0) == c.size(result, 2),
            "the weights do not match the channels");
}

using namespace depthwise;

void check_forward(Checker& c, int sums) {
  c.per_sample(X, kStored, 3);
  c.whole(W, kStored, 3);
  c.per_sample(sums, type_bit(BR_INT32), 3);
  check_geometry(c, W, X, sums);
  c.value(X_ZERO);
  c.shift(DOWN);
}

}  // namespace

namespace depthwise_conv {

void check(Checker& c) { check_forward(c, SUMS); }

uint64_t packed_weights_bytes(const Call& c) {
  const int64_t zero = c.attribute(X_ZERO);
  return exact_bytes(c) && zero == int8_t(zero) ? c.kernels().depthwise_conv.packed_weights_bytes(arguments(c)) : 0;
}

void pack_weights(const Call& c, uint8_t* packed_weights) {
  c.kernels().depthwise_conv.pack_weights(arguments(c), packed_weights);
}

uint64_t prepared_bytes(const Call& c, const Call& next) {
  const auto bytes = c.kernels().depthwise_conv.prepared_bytes;
  if (!bytes || c.record.packed_weights == PackedIn::none || !affine::is_constant(next)) return 0;
  const AffineArgs affine = affine::arguments(next);
  DepthwiseConvArgs a = arguments(c);
  a.affine = &affine;
  return bytes(a);
}

void prepare(const Call& c, const Call& next, uint8_t* prepared) {
  const AffineArgs affine = affine::arguments(next);
  DepthwiseConvArgs a = arguments(c);
  a.affine = &affine;
  c.kernels().depthwise_conv.prepare_affine(a, prepared);
}

bool run_into(const Call& c, const Call& next) {
  const AffineArgs affine = affine::arguments(next);
  DepthwiseConvArgs a = arguments(c);
  a.affine = &affine;
  a.prepared = c.prepared();
  if (c.packed_weights() && c.kernels().depthwise_conv.run(a)) return true;
  if (!c.bytes(SUMS)) run_loops(c, &affine);
  return !c.bytes(SUMS);
}

}  // namespace depthwise_conv

namespace learned_depthwise {

void check(Checker& c) {
  check_forward(c, SUMS);
  if (c.ok()) c.vector(EXPONENTS, BR_INT32, c.size(W, 0));
  c.range(LIMIT, 0, kInt32Max);
}

}  // namespace learned_depthwise

namespace depthwise_conv_input_grad {

void check(Checker& c) {
  c.input_grad();
  c.whole(WEIGHTS, kStored, 3);
  check_geometry(c, WEIGHTS, GX, G);
  if (c.has(EXPONENTS) && c.ok()) c.vector(EXPONENTS, BR_INT32, c.size(WEIGHTS, 0));
  c.range(ROOM, 0, 62);
  c.shift(DOWN);
}

}  // namespace depthwise_conv_input_grad

namespace learned_depthwise_update {

void check(Checker& c) {
  c.whole(WEIGHTS, type_bit(BR_INT32), 3);
  c.per_sample(G, kStored, 3);
  c.exponents(E);
  c.per_sample(X, kStored, 3);
  check_geometry(c, WEIGHTS, X, G);
  c.value(X_ZERO);
  c.range(BOUND, 0, 4096);
  c.multiplier();
  c.range(NUMBER, 0, kInt32Max);
}

}  // namespace learned_depthwise_update

extern const Operation kDepthwiseConv = {.name = "depthwise_conv",
                                         .code = 55,
                                         .reads = "x w",
                                         .writes = "sums",
                                         .attributes = "x_zero stride pad down",
                                         .check = depthwise_conv::check,
                                         .run = depthwise_conv::run,
                                         .weights = depthwise::W,
                                         .packed_weights_bytes = depthwise_conv::packed_weights_bytes,
                                         .pack_weights = depthwise_conv::pack_weights,
                                         .passes = depthwise_conv::SUMS,
                                         .placeless = true,
                                         .run_into = depthwise_conv::run_into,
                                         .prepared_bytes = depthwise_conv::prepared_bytes,
                                         .prepare = depthwise_conv::prepare};
extern const Operation kLearnedDepthwise = {.name = "learned_depthwise",
                                            .code = 56,
                                            .reads = "x w exponents",
                                            .writes = "sums",
                                            .attributes = "x_zero stride pad down limit",
                                            .check = learned_depthwise::check,
                                            .run = learned_depthwise::run};
extern const Operation kDepthwiseConvInputGrad = {.name = "depthwise_conv_input_grad",
                                                  .code = 57,
                                                  .reads = "g e w exponents?",
                                                  .writes = "gx ex",
                                                  .attributes = "stride pad room down bits",
                                                  .check = depthwise_conv_input_grad::check,
                                                  .run = depthwise_conv_input_grad::run};
extern const Operation kLearnedDepthwiseUpdate = {.name = "learned_depthwise_update",
                                                  .code = 58,
                                                  .reads = "weights g e x",
                                                  .writes = "weights",
                                                  .attributes = "x_zero stride pad bound mantissa shift number",
                                                  .check = learned_depthwise_update::check,
                                                  .run = learned_depthwise_update::run,
                                                  .in_parts = true};

}  // namespace bitreplay
