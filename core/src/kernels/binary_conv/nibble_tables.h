// The input gradient of a binary convolution by tables of 16 bytes (pshufb, tbl): all but the look-up itself.
//
// Four gradients have 16 subset sums s. s + bias >= 0 is cut into digits of 6 bits (int8: two, int16: three), each with
// its own table of 16 bytes, looked up by four weight bits. Digits are at most 63, so that four look-ups add up in a
// byte: a block is 16 outputs. With S the sum of all gradients, sum of +-g = 2 (sum of digits 64^d - biases) - S,
// modulo 2^32.
//
// Derived: [channels / 32][kernel * kernel][outputs / 16][2][32 bytes]: for each channel two bytes of weight bits,
// output 16 block + 8 half + j at bit j. Outputs behind the last have gradient 0.
#pragma once
#include "arithmetic/packing.h"
#include "arithmetic/sliding_window.h"
#include "bitreplay.h"
#include "kernels/binary_conv/binary_conv_input_grad.h"

namespace bitreplay {

constexpr int64_t kNibbleOutputs = 16, kNibbleChannels = 32, kNibbleBlockBytes = 64, kMaxBlocks = 64;

template <class G>
struct NibbleDigits {
  static constexpr int kCount = sizeof(G) == 1 ? 2 : 3;
  static constexpr int32_t kBias = sizeof(G) == 1 ? 4 * 128 : 4 * 32768;
  static constexpr int64_t kTableBytes = kCount * 4 * 16;  // of one block: [digits][4 nibbles][16]
};

// Where the table of a nibble's first digit starts; the next digit's is 64 bytes further.
template <int kCount>
static inline int64_t nibble_table(int64_t nibble) {
  return nibble / 4 * 64 * kCount + nibble % 4 * 16;
}

static inline int64_t nibble_blocks(const BinaryConvInputGradArgs& a) {
  return (a.outputs + kNibbleOutputs - 1) / kNibbleOutputs;
}

static inline bool nibbles_serve(const BinaryConvInputGradArgs& a) {
  return (a.g_type == BR_INT8 || a.g_type == BR_INT16) && a.gx_type == BR_INT32;
}

static inline uint64_t nibble_packed_bytes(const BinaryConvInputGradArgs& a) {
  const int64_t groups = (a.channels + kNibbleChannels - 1) / kNibbleChannels;
  return uint64_t(groups * a.kernel * a.kernel * nibble_blocks(a) * kNibbleBlockBytes);
}

static inline void nibble_derive(const BinaryConvInputGradArgs& a, uint8_t* packed_weights) {
  const int64_t taps = a.kernel * a.kernel, octets = 2 * nibble_blocks(a),
                group_bytes = taps * octets * kNibbleChannels;
  for (int64_t word = 0; word < a.words; ++word) {
    const int64_t left = a.channels - word * kWord;
    for (int64_t at = 0; at < taps * octets; ++at) {
      const int64_t tap = at / octets, first = at % octets * 8;
      uint8_t rows[8][8] = {}, columns[8][8];
      for (int64_t j = 0; j < 8 && first + j < a.outputs; ++j)
        __builtin_memcpy(rows[j], a.w + ((first + j) * taps + tap) * a.words + word, 8);
      for (int k = 0; k < 8; ++k)  // byte j: eight channels of output first + j
        for (int j = 0; j < 8; ++j) columns[k][j] = rows[j][k];
      uint64_t squares[8];
      __builtin_memcpy(squares, columns, sizeof squares);
      for (uint64_t& square : squares) square = transpose8(square);
      uint8_t* to = packed_weights + 2 * word * group_bytes + at * kNibbleChannels;
      __builtin_memcpy(to, squares, kNibbleChannels);
      if (left > kNibbleChannels) __builtin_memcpy(to + group_bytes, squares + 4, kNibbleChannels);
    }
  }
}

// Gradients of one output pixel as int16, 0 behind the last of those that `there` are; their sum modulo 2^32.
template <class G>
static inline uint32_t nibble_gradients(const G* g, int64_t there, int64_t count, int16_t* to) {
  uint32_t total = 0;
  const int64_t some = there < count ? there : count;
  for (int64_t o = 0; o < some; ++o) {
    to[o] = int16_t(g[o]);
    total += uint32_t(int32_t(g[o]));
  }
  for (int64_t o = some; o < count; ++o) to[o] = 0;
  return total;
}

// Build::run(g, nibbles, bias, tables): the tables of `nibbles` times four gradients.
// LookUp::run(tables, weights, blocks, correction, to): adds 2 (sum of digits 64^d) - correction to 32 channels.
template <class G, class LookUp, class Build>
static inline void nibble_run(const BinaryConvInputGradArgs& a) {
  using D = NibbleDigits<G>;
  const int64_t all_blocks = nibble_blocks(a), pixels = a.out_h * a.out_w, taps = a.kernel * a.kernel;
  uint32_t* gx = static_cast<uint32_t*>(a.gx);
  __builtin_memset(gx, 0, size_t(a.samples * a.height * a.width * a.channels) * sizeof *gx);
  alignas(64) uint8_t tables[kMaxBlocks * D::kTableBytes];
  alignas(64) int16_t gradients[kMaxBlocks * kNibbleOutputs];
  for (int64_t q = 0; q < a.samples * pixels; ++q) {
    const int64_t out_row = q % pixels / a.out_w, out_column = q % a.out_w;
    const TapRange rows = taps_inside(out_row, a.stride, a.pad, a.kernel, a.height);
    const TapRange columns = taps_inside(out_column, a.stride, a.pad, a.kernel, a.width);
    for (int64_t block = 0; block < all_blocks; block += kMaxBlocks) {
      const int64_t blocks = all_blocks - block < kMaxBlocks ? all_blocks - block : kMaxBlocks;
      const int64_t first = block * kNibbleOutputs;
      const uint32_t total = nibble_gradients(static_cast<const G*>(a.g) + q * a.outputs + first, a.outputs - first,
                                              blocks * kNibbleOutputs, gradients);
      Build::run(gradients, 4 * blocks, D::kBias, tables);
      const uint32_t correction = 2 * 4 * uint32_t(blocks) * uint32_t(D::kBias) + total;
      for (int64_t channel = 0; channel < a.channels; channel += kNibbleChannels) {
        const int64_t count = a.channels - channel < kNibbleChannels ? a.channels - channel : kNibbleChannels;
        for (int64_t row = rows.first; row < rows.last; ++row) {
          for (int64_t column = columns.first; column < columns.last; ++column) {
            const int64_t tap = row * a.kernel + column, y = out_row * a.stride + row - a.pad,
                          x = out_column * a.stride + column - a.pad;
            const uint8_t* weights =
                a.packed_weights + ((channel / kNibbleChannels * taps + tap) * all_blocks + block) * kNibbleBlockBytes;
            uint32_t* to = gx + ((q / pixels * a.height + y) * a.width + x) * a.channels + channel;
            if (count == kNibbleChannels) {
              LookUp::run(tables, weights, blocks, correction, to);
            } else {
              uint32_t some[kNibbleChannels] = {};
              LookUp::run(tables, weights, blocks, correction, some);
              for (int64_t i = 0; i < count; ++i) to[i] += some[i];
            }
          }
        }
      }
    }
  }
}

// The functions of a kernel set from its look-up and what builds its tables; widths without tables are the scalar
// kernel's.
template <template <int> class LookUp, template <int> class Build>
struct Nibbles {
  static uint64_t packed_weights_bytes(const BinaryConvInputGradArgs& a) {
    return nibbles_serve(a) ? nibble_packed_bytes(a) : kBinaryConvInputGradScalar.packed_weights_bytes(a);
  }

  static void pack_weights(const BinaryConvInputGradArgs& a, uint8_t* packed_weights) {
    if (nibbles_serve(a)) return nibble_derive(a, packed_weights);
    kBinaryConvInputGradScalar.pack_weights(a, packed_weights);
  }

  static void run(const BinaryConvInputGradArgs& a) {
    if (!nibbles_serve(a)) return kBinaryConvInputGradScalar.run(a);
    if (a.g_type == BR_INT8) return nibble_run<int8_t, LookUp<2>, Build<2>>(a);
    nibble_run<int16_t, LookUp<3>, Build<3>>(a);
  }

  static constexpr BinaryConvInputGrad kKernel = {packed_weights_bytes, pack_weights, run};
};

}  // namespace bitreplay
