// encode_level and decode_level: engine/layers/level_code.py.
#include "bits.h"
#include "operations.h"

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
                c.attribute(bits) * words_for(c.size(x, 2)) == c.size(code, 2), "the code does not fit the activations");
  if (!c.has(table)) return;
  c.whole(table, type_bit(BR_INT32), 2);
  c.range(bits, 1, 8);
  if (!c.ok()) return;
  c.require(c.size(table, 0) == c.size(x, 2) && c.size(table, 1) == (int64_t(1) << c.attribute(bits)) - dropped,
            "the table of the code has another size");
}

}  // namespace

namespace encode_level {

enum { X, THRESHOLDS, CODE };
enum { BITS, LOW, CUT };

void check(Checker& c) { check_code(c, X, CODE, THRESHOLDS, 1, BITS, LOW, CUT); }

int run(const Call& c) {
  c.kernels().encode_level({c.samples() * c.size(X, 0) * c.size(X, 1), c.size(X, 2), c.attribute(BITS),
                            c.attribute(LOW), c.attribute(CUT), c.bytes(X), c.type(X), c.data<int32_t>(THRESHOLDS),
                            c.data<uint64_t>(CODE)});
  return BR_OK;
}

}  // namespace encode_level

namespace decode_level {

enum { CODE, VALUES, X };
enum { BITS, LOW, CUT };

void check(Checker& c) { check_code(c, X, CODE, VALUES, 0, BITS, LOW, CUT); }

int run(const Call& c) {
  c.kernels().decode_level({c.samples() * c.size(X, 0) * c.size(X, 1), c.size(X, 2), c.attribute(BITS),
                            c.attribute(LOW), c.attribute(CUT), c.data<uint64_t>(CODE), c.data<int32_t>(VALUES),
                            c.bytes(X), c.type(X)});
  return BR_OK;
}

}  // namespace decode_level

extern const Operation kEncodeLevel = {"encode_level", 70, "x thresholds?", "code", "bits low cut", encode_level::check,
                                       encode_level::run, -1, nullptr, nullptr};
extern const Operation kDecodeLevel = {"decode_level", 71, "code values?", "x", "bits low cut", decode_level::check,
                                       decode_level::run, -1, nullptr, nullptr};

}  // namespace bitreplay
