// pack_signs_clipped, clipped_sign_input_grad and unpack_signs: engine/layers/clipped_sign.py.
#include "arithmetic/packing.h"
#include "kernels/sign/clipped_sign_loops.h"
#include "machine/operation.h"

namespace bitreplay {
namespace pack_signs_clipped {

void check(Checker& c) {
  c.per_sample(X, kStored, 3);
  c.packed(X, BITS);
  c.packed(X, MASK);
  c.value(ZERO);
  c.value(LIMIT);
}

}  // namespace pack_signs_clipped

namespace clipped_sign_input_grad {

void check(Checker& c) {
  c.input_grad(kWide);
  c.second_gradient();
  c.packed(G, MASK);
  c.same_shape(G, GX);
  c.value(FACTOR);
  c.shift(SHIFT);
  c.range(BOUND, 0, 62);
}

}  // namespace clipped_sign_input_grad

namespace unpack_signs {

enum { BITS, X };
enum { CHANNELS };

void check(Checker& c) {
  c.per_sample(X, kStored, 3);
  c.packed(X, BITS);
  if (c.ok()) c.require(c.attribute(CHANNELS) == c.size(X, 2), "the channels differ");
}

int run(const Call& c) {
  const int64_t channels = c.size(X, 2), words = c.size(BITS, 2), rows = c.samples() * c.size(X, 0) * c.size(X, 1);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t word = 0; word < words; ++word) {
      const int64_t lanes = min_of(kWord, channels - word * kWord);
      int64_t x[kWord];
      const uint64_t bits = c.data<uint64_t>(BITS)[row * words + word];
      for (int64_t i = 0; i < lanes; ++i) x[i] = bits >> i & 1 ? 1 : -1;
      narrow(c.type(X), x, lanes, c.bytes(X), row * channels + word * kWord);
    }
  }
  return BR_OK;
}

}  // namespace unpack_signs

extern const Operation kPackSignsClipped = {.name = "pack_signs_clipped",
                                            .code = 14,
                                            .reads = "x",
                                            .writes = "bits mask",
                                            .attributes = "zero limit",
                                            .check = pack_signs_clipped::check,
                                            .run = pack_signs_clipped::run};
extern const Operation kClippedSignInputGrad = {
    .name = "clipped_sign_input_grad",
    .code = 15,
    .reads = "g e mask other? other_e?",
    .writes = "gx ex",
    .attributes = "factor shift bound bits other_factor other_shift other_bound",
    .check = clipped_sign_input_grad::check,
    .run = clipped_sign_input_grad::run};
extern const Operation kUnpackSigns = {.name = "unpack_signs",
                                       .code = 16,
                                       .reads = "bits",
                                       .writes = "x",
                                       .attributes = "channels",
                                       .check = unpack_signs::check,
                                       .run = unpack_signs::run};

}  // namespace bitreplay
