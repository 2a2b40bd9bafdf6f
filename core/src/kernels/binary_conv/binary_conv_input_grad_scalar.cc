// Eight gradients make 256 signed subset sums (+g where the bit is set, -g where not), looked up by a byte of weights.
// Derived: [kernel * kernel][outputs / 8][channels] bytes, bit j of a byte: output 8 group + j. Outputs behind the last
// have gradient 0. Four groups are looked up at a time, so that gx is touched once for 32 products.
#include "arithmetic/packing.h"
#include "arithmetic/sliding_window.h"
#include "bitreplay.h"
#include "kernels/binary_conv/binary_conv_input_grad.h"

namespace bitreplay {
namespace {

constexpr int64_t kTogether = 4;

int64_t groups_of(const BinaryConvInputGradArgs& a) { return (a.outputs + 7) / 8; }

uint64_t packed_weights_bytes(const BinaryConvInputGradArgs& a) {
  return uint64_t(a.kernel * a.kernel * groups_of(a) * a.channels);
}

void pack_weights(const BinaryConvInputGradArgs& a, uint8_t* packed_weights) {
  const int64_t taps = a.kernel * a.kernel;
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int64_t group = 0; group < groups_of(a); ++group) {
      for (int64_t i = 0; i < a.channels; i += 8) {
        uint64_t square = 0;  // byte j: eight channels of output 8 group + j
        for (int64_t j = 0; j < 8 && 8 * group + j < a.outputs; ++j) {
          const uint64_t word = a.w[((8 * group + j) * taps + tap) * a.words + i / kWord];
          square |= ((word >> (i % kWord)) & 255) << (8 * j);
        }
        square = transpose8(square);
        for (int64_t c = 0; c < 8 && i + c < a.channels; ++c) packed_weights[i + c] = uint8_t(square >> (8 * c));
      }
      packed_weights += a.channels;
    }
  }
}

template <class Sum, class G>
void fill_table(const G* g, int64_t count, Sum* table) {
  Sum total = 0;
  for (int64_t j = 0; j < count; ++j) total += Sum(g[j]);
  table[0] = Sum(0) - total;
  for (int64_t j = 0; j < 8; ++j) {
    const Sum twice = j < count ? Sum(2) * Sum(g[j]) : Sum(0);
    for (int64_t m = 0; m < int64_t(1) << j; ++m) table[(int64_t(1) << j) + m] = table[m] + twice;
  }
}

// Sum is unsigned, so that it wraps.
template <class Sum, class G>
void run_as(const BinaryConvInputGradArgs& a) {
  const int64_t groups = groups_of(a), pixels = a.out_h * a.out_w;
  Sum* gx = static_cast<Sum*>(a.gx);
  for (int64_t i = 0; i < a.samples * a.height * a.width * a.channels; ++i) gx[i] = 0;
  for (int64_t q = 0; q < a.samples * pixels; ++q) {
    const int64_t out_row = q % pixels / a.out_w, out_column = q % a.out_w;
    const TapRange rows = taps_inside(out_row, a.stride, a.pad, a.kernel, a.height);
    const TapRange columns = taps_inside(out_column, a.stride, a.pad, a.kernel, a.width);
    const G* g = static_cast<const G*>(a.g) + q * a.outputs;
    for (int64_t group = 0; group < groups; group += kTogether) {
      const int64_t together = groups - group < kTogether ? groups - group : kTogether;
      Sum table[kTogether][256];
      for (int64_t k = 0; k < together; ++k) {
        const int64_t first = 8 * (group + k);
        fill_table(g + first, a.outputs - first < 8 ? a.outputs - first : 8, table[k]);
      }
      for (int64_t row = rows.first; row < rows.last; ++row) {
        for (int64_t column = columns.first; column < columns.last; ++column) {
          const int64_t y = out_row * a.stride + row - a.pad, x = out_column * a.stride + column - a.pad;
          Sum* to = gx + ((q / pixels * a.height + y) * a.width + x) * a.channels;
          const uint8_t* bytes = a.packed_weights + ((row * a.kernel + column) * groups + group) * a.channels;
          if (together == kTogether) {
            for (int64_t i = 0; i < a.channels; ++i)
              to[i] += table[0][bytes[i]] + table[1][bytes[a.channels + i]] + table[2][bytes[2 * a.channels + i]] +
                       table[3][bytes[3 * a.channels + i]];
          } else {
            for (int64_t k = 0; k < together; ++k)
              for (int64_t i = 0; i < a.channels; ++i) to[i] += table[k][bytes[k * a.channels + i]];
          }
        }
      }
    }
  }
}

template <class Sum>
void run_sum(const BinaryConvInputGradArgs& a) {
  if (a.g_type == BR_INT8) return run_as<Sum, int8_t>(a);
  if (a.g_type == BR_INT16) return run_as<Sum, int16_t>(a);
  return run_as<Sum, int32_t>(a);
}

void run(const BinaryConvInputGradArgs& a) {
  if (a.gx_type == BR_INT32) return run_sum<uint32_t>(a);
  return run_sum<uint64_t>(a);
}

}  // namespace

extern const BinaryConvInputGrad kBinaryConvInputGradScalar = {packed_weights_bytes, pack_weights, run};

}  // namespace bitreplay
