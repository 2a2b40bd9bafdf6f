// Weights of depthwise convolutions for instructions that add products of four bytes to a sum: vpdpbusd and sdot.
#pragma once
#include <cstring>

#include "kernels/integer_conv/depthwise_conv.h"

namespace bitreplay {
namespace {

constexpr int64_t kQuadChannels = 16;

// How many results, kStride columns apart, share the quads of columns that one of them needs: as many as there is room.
template <int kKernel, int kStride>
struct QuadShape {
  static constexpr int kQuads = (kKernel + 3) / 4, kGroup = (4 * kQuads - kKernel) / kStride + 1;
};

// The packed weights of 16 channels: rows of taps in whole quads, and what is added to sums: -zero times that of each
// channel's weights.
template <int kKernel>
struct PackedQuads {
  int8_t of[kKernel][(kKernel + 3) / 4][kQuadChannels][4];
  int32_t corrections[kQuadChannels];
};

// place(channel % 16) is where a channel stands.
template <int kKernel, class Place>
void pack_quads(const DepthwiseConvArgs& a, int64_t zero, Place place, uint8_t* packed_weights) {
  auto* const packed = reinterpret_cast<PackedQuads<kKernel>*>(packed_weights);
  memset(packed, 0, size_t(a.channels / kQuadChannels) * sizeof(PackedQuads<kKernel>));
  for (int64_t channel = 0; channel < a.channels; ++channel) {
    PackedQuads<kKernel>& to = packed[channel / kQuadChannels];
    const int64_t own = place(channel % kQuadChannels);
    int64_t sum = 0;
    for (int64_t row = 0; row < kKernel; ++row) {
      for (int64_t tap = 0; tap < kKernel; ++tap) {
        const int8_t weight = a.w[(channel * kKernel + row) * kKernel + tap];
        to.of[row][tap / 4][own][tap % 4] = weight;
        sum += weight;
      }
    }
    to.corrections[own] = int32_t(-zero * sum);
  }
}

inline uint64_t packed_quads_bytes(const DepthwiseConvArgs& a) {
  return uint64_t(a.channels / kQuadChannels) * (a.kernel == 3 ? sizeof(PackedQuads<3>) : sizeof(PackedQuads<5>));
}

}  // namespace
}  // namespace bitreplay
