// The input gradient of an integer convolution with input channels in the lanes (integer_conv_pairs.h has the
// products).
//
// The gradients that reach a pixel are gathered as a row of kernel * kernel * outputs 16-bit numbers, 0 where none
// does; the weights stand as pairs of neighbours in that row. Sums are 32-bit numbers, exact where the row's length
// times the largest gradient of the sample times the largest weight is below 2^31: another sample goes the scalar way.
// Sums are made twice: for the largest, and to be rounded.
#pragma once
#include "arithmetic/quant.h"
#include "kernels/integer_conv/integer_conv_input_grad.h"
#include "kernels/integer_conv/integer_conv_pairs.h"

namespace bitreplay {
namespace {

template <class Lanes>
struct InputGradPairs {
  using Args = IntegerConvInputGradArgs;
  static constexpr int64_t kGroup = 2 * Lanes::kLanes;

  static int64_t row_of(const Args& a) { return a.kernel * a.kernel * a.outputs; }
  static int64_t groups_of(const Args& a) { return (a.channels + kGroup - 1) / kGroup; }

  // Few channels would leave most lanes empty.
  static bool serves(const Args& a) {
    return !a.has_exponents && a.w_type != BR_INT32 && a.g_type != BR_INT32 && row_of(a) <= kLongestRow &&
           a.channels >= kGroup / 2;
  }

  static uint64_t packed_weights_bytes(const Args& a) {
    return serves(a) ? uint64_t(groups_of(a) * kGroup * ((row_of(a) + 1) / 2) * 4) : 0;
  }

  static void pack_weights(const Args& a, uint8_t* packed_weights) {
    if (!serves(a)) return;
    const int64_t taps = a.kernel * a.kernel, row = row_of(a), pairs = (row + 1) / 2;
    int16_t* to = reinterpret_cast<int16_t*>(packed_weights);
    for (int64_t k = 0; k < 2 * pairs; ++k) {
      const int64_t from = (k % a.outputs * taps + k / a.outputs) * a.channels;
      for (int64_t i = 0; i < groups_of(a) * kGroup; ++i) {
        int64_t value = 0;
        if (i < a.channels && k < row) widen(a.w_type, a.w, from + i, 1, &value);
        to[(i / kGroup * pairs + k / 2) * kGroup * 2 + place_in_pair<Lanes>(i % kGroup, k % 2)] = int16_t(value);
      }
    }
  }

  template <class G>
  static void gather(const Args& a, int64_t n, int64_t pixel, int16_t* inputs) {
    const G* g = static_cast<const G*>(a.g) + n * a.out_h * a.out_w * a.outputs;
    for (int64_t tap = 0; tap < a.kernel * a.kernel; ++tap, inputs += a.outputs) {
      const int64_t row = pixel / a.width + a.pad - tap / a.kernel, column = pixel % a.width + a.pad - tap % a.kernel;
      const bool read = row >= 0 && row % a.stride == 0 && row / a.stride < a.out_h && column >= 0 &&
                        column % a.stride == 0 && column / a.stride < a.out_w;
      const G* from = g + (row / a.stride * a.out_w + column / a.stride) * a.outputs;
      for (int64_t o = 0; o < a.outputs; ++o) inputs[o] = read ? from[o] : int16_t(0);
    }
    if (row_of(a) % 2) *inputs = 0;
  }

  // each(first element of the sample, count, sums)
  template <class G, class Each>
  static void over_sums(const Args& a, int64_t n, Each each) {
    const int64_t pixels = a.height * a.width, pairs = (row_of(a) + 1) / 2;
    alignas(64) int16_t inputs[kPixelsAtATime][kLongestRow];
    alignas(64) int32_t sums[kGroup];
    for (int64_t p = 0; p < pixels; p += kPixelsAtATime) {
      const int64_t count = min_of(kPixelsAtATime, pixels - p);
      const int16_t* x[kPixelsAtATime];
      for (int64_t k = 0; k < kPixelsAtATime; ++k) {
        x[k] = inputs[k < count ? k : 0];
        if (k < count) gather<G>(a, n, p + k, inputs[k]);
      }
      const int32_t* w = reinterpret_cast<const int32_t*>(a.packed_weights);
      for (int64_t first = 0; first < a.channels; first += kGroup, w += pairs * kGroup) {
        const PixelSums<Lanes> pixel = pixel_sums<Lanes>({{x[0], x[1], x[2], x[3]}, 1, pairs, 0}, w);
        for (int64_t k = 0; k < count; ++k) {
          Lanes::store(sums, pixel.of[k][0]);
          Lanes::store(sums + Lanes::kLanes, pixel.of[k][1]);
          each((p + k) * a.channels + first, min_of(kGroup, a.channels - first), sums);
        }
      }
    }
  }

  template <class G>
  static int64_t largest_gradient(const Args& a, int64_t n) {
    const int64_t size = a.out_h * a.out_w * a.outputs;
    const G* g = static_cast<const G*>(a.g) + n * size;
    int32_t largest = 0;
    for (int64_t i = 0; i < size; ++i) {
      const int32_t magnitude = g[i] < 0 ? -int32_t(g[i]) : int32_t(g[i]);
      largest = magnitude > largest ? magnitude : largest;
    }
    return largest;
  }

  template <class G>
  static void run_sample(const Args& a, int64_t n) {
    const int64_t largest_w = a.w_type == BR_INT8 ? 128 : 1 << 15, size = a.height * a.width * a.channels;
    if (row_of(a) * largest_gradient<G>(a, n) * largest_w >= int64_t(1) << 31) {
      Args one = a;
      one.samples = 1;
      one.g = static_cast<const G*>(a.g) + n * a.out_h * a.out_w * a.outputs;
      one.e += n;
      one.gx = static_cast<uint8_t*>(a.gx) + n * size * element_bytes(a.gx_type);
      one.ex += n;
      return integer_conv_input_grad_scalar(one);
    }
    int32_t largest = 0;
    over_sums<G>(a, n, [&](int64_t, int64_t count, const int32_t* sums) {
      for (int64_t i = 0; i < count; ++i) {
        const int32_t magnitude = sums[i] < 0 ? -sums[i] : sums[i];
        largest = magnitude > largest ? magnitude : largest;
      }
    });
    const int64_t shift = quantising_shift(largest, a.bits);
    over_sums<G>(a, n, [&](int64_t at, int64_t count, const int32_t* sums) {
      int64_t tile[kGroup];
      for (int64_t i = 0; i < count; ++i) tile[i] = round_shift(sums[i], shift);
      narrow(a.gx_type, tile, count, a.gx, n * size + at);
    });
    a.ex[n] = quantised_exponent(largest, a.e[n] + a.shift, shift);
  }

  static void run(const Args& a) {
    if (!serves(a)) return integer_conv_input_grad_scalar(a);
    for (int64_t n = 0; n < a.samples; ++n) a.g_type == BR_INT8 ? run_sample<int8_t>(a, n) : run_sample<int16_t>(a, n);
  }
};

template <class Lanes>
constexpr IntegerConvInputGrad integer_conv_input_grad_with() {
  using Pairs = InputGradPairs<Lanes>;
  return {Pairs::packed_weights_bytes, Pairs::pack_weights, Pairs::run};
}

}  // namespace
}  // namespace bitreplay
