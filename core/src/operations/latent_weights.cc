// latent_signs and latent_update: engine/layers/latent_weights.py.
//
// latent_update goes tap by tap, eight outputs and kTile channels at a time. Eight pixels of the minibatch make one byte
// per channel (their signs); for each output the 256 signed sums of the eight gradients stand in a table, looked up by
// that byte. Where nothing is read outside the map, a pixel whose tap lies outside is left out.
#include "bits.h"
#include "operations.h"
#include "pixels.h"
#include "quant.h"
#include "sgd.h"

namespace bitreplay {
namespace {

constexpr int64_t kLargestSize = 1 << 16, kOutputs = 8, kPixels = 8;

int type_of(int64_t bits) {
  return bits == 4 ? BR_UINT8 : bits == 8 ? BR_INT8 : bits == 16 ? BR_INT16 : BR_INT32;
}

void check_latent(Checker& c, int latent, int channels, int bits) {
  c.range(channels, 1, (1 << 15) - 1);
  if (!c.ok()) return;
  const int64_t width = c.attribute(bits), count = c.attribute(channels);
  c.require(width == 4 || width == 8 || width == 16 || width == 32, "latent weights have neither 4, 8, 16 nor 32 bits");
  if (!c.ok()) return;
  c.whole(latent, type_bit(type_of(width)), 4);
  if (c.ok())
    c.require(c.size(latent, 3) == (width == 4 ? (count + 1) / 2 : count) && c.size(latent, 1) == c.size(latent, 2) &&
                  c.size(latent, 1) <= kLargestSize, "the latent weights do not fit the channels");
}

int64_t load(const Call& c, int role, int64_t bits, int64_t row, int64_t channel) {
  int64_t value;
  if (bits == 4) {
    const int64_t half = c.data<uint8_t>(role)[row * c.size(role, 3) + channel / 2] >> (channel % 2 * 4) & 15;
    return (half ^ 8) - 8;
  }
  widen(type_of(bits), c.bytes(role), row * c.size(role, 3) + channel, 1, &value);
  return value;
}

void store(const Call& c, int role, int64_t bits, int64_t row, int64_t channel, int64_t value) {
  if (bits == 4) {
    uint8_t* both = c.data<uint8_t>(role) + row * c.size(role, 3) + channel / 2;
    const int shift = int(channel % 2 * 4);
    *both = uint8_t((*both & ~(15 << shift)) | int((value & 15) << shift));
    return;
  }
  narrow(type_of(bits), &value, 1, c.bytes(role), row * c.size(role, 3) + channel);
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
  c.require(c.size(W, 3) == words_for(c.attribute(CHANNELS)), "the words do not fit the channels");
}

int run(const Call& c) {
  const int64_t channels = c.attribute(CHANNELS), words = c.size(W, 3), rows = c.elements(W) / words;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t word = 0; word < words; ++word) {
      uint64_t bits = 0;
      const int64_t lanes = least(kWord, channels - word * kWord);
      for (int64_t i = 0; i < lanes; ++i)
        bits |= uint64_t(load(c, LATENT, c.attribute(BITS), row, word * kWord + i) >= 0) << i;
      c.data<uint64_t>(W)[row * words + word] = bits;
    }
  }
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
  c.range(STRIDE, 1, kLargestSize);
  c.range(PAD, 0, kLargestSize);
  c.range(PADDING, 0, 1);
  c.range(UP, 0, 62);
  c.mantissa(MANTISSA);
  c.shift(SHIFT);
  c.range(NUMBER, 0, kInt32Max);
  if (!c.ok()) return;
  c.require(c.size(X, 2) == words_for(c.attribute(CHANNELS)), "the signs do not fit the channels");
  c.require(c.size(LATENT, 0) == c.size(G, 2), "the latent weights do not fit the outputs");
  for (int axis = 0; axis < 2; ++axis)
    c.require(c.size(X, axis) <= kLargestSize && c.size(G, axis) <= kLargestSize, "the map is too large");
}

// Eight pixels of one tap: where their signs lie (null: outside, all +1) and which gradients they multiply.
struct Group {
  const uint64_t* x[kPixels];
  int64_t g[kPixels];  // number of the output pixel in the minibatch
  int64_t count = 0;
};

// signs[i] bit j: pixel j of the group, channel at + i.
void transpose_signs(const Group& group, int64_t at, int64_t count, uint8_t* signs) {
  for (int64_t i = 0; i < count; i += 8) {
    uint64_t square = 0;
    for (int64_t j = 0; j < group.count; ++j) {
      const uint64_t byte = group.x[j] ? group.x[j][(at + i) / kWord] >> ((at + i) % kWord) & 255 : 255;
      square |= byte << (8 * j);
    }
    square = transpose8(square);
    for (int64_t k = 0; k < 8 && i + k < count; ++k) signs[i + k] = uint8_t(square >> (8 * k));
  }
}

void signed_sums(const int64_t* g, int64_t table[256]) {
  table[0] = 0;
  for (int64_t j = 0; j < kPixels; ++j) table[0] = sub(table[0], g[j]);
  for (int64_t j = 0; j < kPixels; ++j)
    for (int64_t m = 0; m < int64_t(1) << j; ++m) table[(int64_t(1) << j) + m] = add(table[m], mul(2, g[j]));
}

struct Tile {
  int64_t first, outputs, at, count;  // outputs first .. and channels at ..
  int64_t sums[kOutputs][kTile];
};

void accumulate(const Call& c, const Group& group, int64_t top, Tile* tile) {
  const int64_t outputs = c.size(G, 2), pixels = c.size(G, 0) * c.size(G, 1);
  uint8_t signs[kTile];
  transpose_signs(group, tile->at, tile->count, signs);
  for (int64_t o = 0; o < tile->outputs; ++o) {
    int64_t g[kPixels] = {}, table[256];
    for (int64_t j = 0; j < group.count; ++j) {
      widen(c.type(G), c.bytes(G), group.g[j] * outputs + tile->first + o, 1, g + j);
      g[j] = round_shift(left(g[j], c.attribute(UP)), top - c.data<int32_t>(E)[group.g[j] / pixels]);
    }
    signed_sums(g, table);
    int64_t* sums = tile->sums[o];
    for (int64_t i = 0; i < tile->count; ++i) sums[i] = add(sums[i], table[signs[i]]);
  }
}

void sum_tap(const Call& c, int64_t row, int64_t column, int64_t top, Tile* tile) {
  const int64_t height = c.size(X, 0), width = c.size(X, 1), words = c.size(X, 2);
  const int64_t out_h = c.size(G, 0), out_w = c.size(G, 1), stride = c.attribute(STRIDE), pad = c.attribute(PAD);
  Group group;
  for (int64_t n = 0; n < c.samples(); ++n) {
    if (c.data<int32_t>(E)[n] <= kNoGradient) continue;
    for (int64_t pixel = 0; pixel < out_h * out_w; ++pixel) {
      const int64_t r = pixel / out_w * stride + row - pad, k = pixel % out_w * stride + column - pad;
      const bool inside = r >= 0 && r < height && k >= 0 && k < width;
      if (!inside && !c.attribute(PADDING)) continue;
      group.x[group.count] = inside ? c.data<uint64_t>(X) + ((n * height + r) * width + k) * words : nullptr;
      group.g[group.count++] = n * out_h * out_w + pixel;
      if (group.count < kPixels) continue;
      accumulate(c, group, top, tile);
      group.count = 0;
    }
  }
  if (group.count > 0) accumulate(c, group, top, tile);
}

int run(const Call& c) {
  const int64_t outputs = c.size(G, 2), channels = c.attribute(CHANNELS), kernel = c.size(LATENT, 1);
  const int64_t bits = c.attribute(BITS), high = (int64_t(1) << (bits - 1)) - 1;
  int64_t top = kNoGradient;
  for (int64_t n = 0; n < c.samples(); ++n) top = most(top, c.data<int32_t>(E)[n]);
  if (top <= kNoGradient) return BR_OK;
  const Step step = step_of(c.attribute(MANTISSA), c.attribute(SHIFT), c.run, c.attribute(NUMBER));
  Tile tile;
  for (int64_t tap = 0; tap < kernel * kernel; ++tap) {
    for (tile.first = 0; tile.first < outputs; tile.first += kOutputs) {
      tile.outputs = least(kOutputs, outputs - tile.first);
      for (tile.at = 0; tile.at < channels; tile.at += kTile) {
        tile.count = least(kTile, channels - tile.at);
        for (auto& sums : tile.sums)
          for (int64_t& sum : sums) sum = 0;
        sum_tap(c, tap / kernel, tap % kernel, top, &tile);
        for (int64_t o = 0; o < tile.outputs; ++o) {
          const int64_t weight = (tile.first + o) * kernel * kernel + tap;
          for (int64_t i = 0; i < tile.count; ++i) {
            const int64_t change = change_of(tile.sums[o][i], top - c.attribute(UP), step,
                                             uint32_t(weight * channels + tile.at + i));
            const int64_t moved = sub(load(c, LATENT, bits, weight, tile.at + i), change);
            store(c, LATENT, bits, weight, tile.at + i, saturate(moved, -high - 1, high));
          }
        }
      }
    }
  }
  return BR_OK;
}

}  // namespace latent_update

extern const Operation kLatentSigns = {"latent_signs", 17, "latent", "w", "channels bits", latent_signs::check,
                                       latent_signs::run, -1, nullptr, nullptr};
extern const Operation kLatentUpdate = {"latent_update", 18, "latent g e x", "latent",
                                        "channels stride pad padding bits up mantissa shift number",
                                        latent_update::check, latent_update::run, -1, nullptr, nullptr};

}  // namespace bitreplay
