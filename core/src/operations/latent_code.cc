// encode_latents and decode_latents: engine/layers/latent_code.py.
#include "arithmetic/packing.h"
#include "machine/operation.h"

namespace bitreplay {
namespace {

// x (height, width, channels), code (height, width, bits * words), a table of `entries` numbers a channel.
void check_code(Checker& c, int x, int code, int table, int64_t dropped, int bits, int low, int cut) {
  c.per_sample(x, kStored, 3);
  c.per_sample(code, type_bit(BR_UINT64), 3);
  c.range(bits, 1, 32);
  c.value(low);
  c.range(cut, 0, 31);
  if (!c.ok()) return;
  c.require(c.size(x, 0) == c.size(code, 0) && c.size(x, 1) == c.size(code, 1) &&
                c.attribute(bits) * words_for(c.size(x, 2)) == c.size(code, 2),
            "the code does not match the activations");
  if (!c.has(table)) return;
  c.whole(table, type_bit(BR_INT32), 2);
  c.range(bits, 1, 8);
  if (!c.ok()) return;
  c.require(c.size(table, 0) == c.size(x, 2) && c.size(table, 1) == (int64_t(1) << c.attribute(bits)) - dropped,
            "the table of the code has the wrong size");
}

}  // namespace

namespace encode_latents {

enum { X, THRESHOLDS, CODE };
enum { BITS, LOW, CUT };

void check(Checker& c) { check_code(c, X, CODE, THRESHOLDS, 1, BITS, LOW, CUT); }

int run(const Call& c) {
  c.kernels().encode_latents({.rows = c.samples() * c.size(X, 0) * c.size(X, 1),
                              .channels = c.size(X, 2),
                              .bits = c.attribute(BITS),
                              .low = c.attribute(LOW),
                              .cut = c.attribute(CUT),
                              .x = c.bytes(X),
                              .x_type = c.type(X),
                              .thresholds = c.data<int32_t>(THRESHOLDS),
                              .code = c.data<uint64_t>(CODE)});
  return BR_OK;
}

}  // namespace encode_latents

namespace decode_latents {

enum { CODE, VALUES, X };
enum { BITS, LOW, CUT };

void check(Checker& c) { check_code(c, X, CODE, VALUES, 0, BITS, LOW, CUT); }

int run(const Call& c) {
  c.kernels().decode_latents({.rows = c.samples() * c.size(X, 0) * c.size(X, 1),
                              .channels = c.size(X, 2),
                              .bits = c.attribute(BITS),
                              .low = c.attribute(LOW),
                              .cut = c.attribute(CUT),
                              .code = c.data<uint64_t>(CODE),
                              .values = c.data<int32_t>(VALUES),
                              .x = c.bytes(X),
                              .x_type = c.type(X)});
  return BR_OK;
}

}  // namespace decode_latents

extern const Operation kEncodeLatents = {.name = "encode_latents",
                                         .code = 70,
                                         .reads = "x thresholds?",
                                         .writes = "code",
                                         .attributes = "bits low cut",
                                         .check = encode_latents::check,
                                         .run = encode_latents::run};
extern const Operation kDecodeLatents = {.name = "decode_latents",
                                         .code = 71,
                                         .reads = "code values?",
                                         .writes = "x",
                                         .attributes = "bits low cut",
                                         .check = decode_latents::check,
                                         .run = decode_latents::run};

}  // namespace bitreplay
