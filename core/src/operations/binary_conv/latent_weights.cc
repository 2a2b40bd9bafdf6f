// latent_signs and latent_update; the layer: engine/layers/latent_weights.py.
#include "arithmetic/elements.h"
#include "arithmetic/packing.h"
#include "arithmetic/quant.h"
#include "machine/operation.h"
#include "operations/window.h"

namespace bitreplay {
namespace {

int type_of(int64_t bits) { return bits == 4 ? BR_UINT8 : bits == 8 ? BR_INT8 : bits == 16 ? BR_INT16 : BR_INT32; }

void check_latent(Checker& c, int latent, int channels, int bits) {
  c.range(channels, 1, (1 << 15) - 1);
  if (!c.ok()) return;
  const int64_t width = c.attribute(bits), count = c.attribute(channels);
  c.require(width == 4 || width == 8 || width == 16 || width == 32, "latent weights must have 4, 8, 16 or 32 bits");
  if (!c.ok()) return;
  c.whole(latent, type_bit(type_of(width)), 4);
  c.square(latent, 1);
  if (c.ok())
    c.require(c.size(latent, 3) == (width == 4 ? (count + 1) / 2 : count),
              "the latent weights do not match the channels");
}

}  // namespace

namespace latent_signs {

enum { LATENT, W };
enum { CHANNELS, BITS };

void check(Checker& c) {
  check_latent(c, LATENT, CHANNELS, BITS);
  c.whole(W, type_bit(BR_UINT64), 4);
  if (!c.ok()) return;
  for (int axis = 0; axis < 3; ++axis) c.require(c.size(LATENT, axis) == c.size(W, axis), "the words do not fit");
  c.require(c.size(W, 3) == words_for(c.attribute(CHANNELS)), "the words do not match the channels");
}

int run(const Call& c) {
  const int64_t words = c.size(W, 3), rows = c.elements(W) / words;
  const Range own = c.share(rows);
  const int64_t row_bytes = c.elements(LATENT) / rows * element_bytes(c.type(LATENT));
  c.kernels().latent_signs({.rows = own.last - own.first,
                            .words = words,
                            .channels = c.attribute(CHANNELS),
                            .bits = c.attribute(BITS),
                            .latent = c.bytes(LATENT) + own.first * row_bytes,
                            .w = c.data<uint64_t>(W) + own.first * words});
  return BR_OK;
}

}  // namespace latent_signs

namespace latent_update {

enum { LATENT, G, E, X };
enum { CHANNELS, STRIDE, PAD, PADDING, BITS, UP, MANTISSA, SHIFT, NUMBER };

void check(Checker& c) {
  check_latent(c, LATENT, CHANNELS, BITS);
  c.per_sample(G, kStored, 3);
  c.exponents(E);
  c.per_sample(X, type_bit(BR_UINT64), 3);
  c.window(X, G);
  c.range(PADDING, 0, 1);
  c.range(UP, 0, 62);
  c.multiplier();
  c.range(NUMBER, 0, kInt32Max);
  if (!c.ok()) return;
  c.require(c.size(X, 2) == words_for(c.attribute(CHANNELS)), "the signs do not match the channels");
  c.require(c.size(LATENT, 0) == c.size(G, 2), "the latent weights do not match the outputs");
}

LatentUpdateArgs arguments(const Call& c, int64_t samples) {
  LatentUpdateArgs a = window_arguments<LatentUpdateArgs>(c, X, LATENT, G, STRIDE, PAD);
  a.samples = samples;
  a.words = c.size(X, 2);
  a.channels = c.attribute(CHANNELS);
  a.padding = c.attribute(PADDING);
  a.g_type = c.type(G);
  a.up = c.attribute(UP);
  a.bits = c.attribute(BITS);
  return a;
}

// The kernel works in the scratch, as if it were a rearranged operand: the latent weights are learned, so it never lies
// in the program. There is nothing to make before the run. Each part has its own.
uint64_t part_bytes(const Call& c) {
  return (c.kernels().latent_update.scratch_bytes(arguments(c, c.program.max_samples)) + 63) / 64 * 64;
}

uint64_t scratch_bytes(const Call& c) { return c.program.threads * part_bytes(c); }

void make_nothing(const Call&, uint8_t*) {}

int run(const Call& c) {
  LatentUpdateArgs a = arguments(c, c.samples());
  a.e = c.data<int32_t>(E);
  a.top = kNoGradient;
  for (int64_t n = 0; n < a.samples; ++n) a.top = max_of(a.top, a.e[n]);
  if (a.top <= kNoGradient) return BR_OK;
  a.g = c.bytes(G);
  a.x = c.data<uint64_t>(X);
  a.latent = c.bytes(LATENT);
  a.step = step_of(c.attribute(MANTISSA), c.attribute(SHIFT), c.run, c.attribute(NUMBER));
  a.scratch = c.packed_weights() + uint64_t(c.part) * part_bytes(c);
  a.first = c.share(a.outputs).first;
  a.last = c.share(a.outputs).last;
  c.kernels().latent_update.run(a);
  return BR_OK;
}

}  // namespace latent_update

extern const Operation kLatentSigns = {.name = "latent_signs",
                                       .code = 17,
                                       .reads = "latent",
                                       .writes = "w",
                                       .attributes = "channels bits",
                                       .check = latent_signs::check,
                                       .run = latent_signs::run,
                                       .in_parts = true};
extern const Operation kLatentUpdate = {.name = "latent_update",
                                        .code = 18,
                                        .reads = "latent g e x",
                                        .writes = "latent",
                                        .attributes = "channels stride pad padding bits up mantissa shift number",
                                        .check = latent_update::check,
                                        .run = latent_update::run,
                                        .weights = latent_update::LATENT,
                                        .packed_weights_bytes = latent_update::scratch_bytes,
                                        .pack_weights = latent_update::make_nothing,
                                        .in_parts = true};

}  // namespace bitreplay
