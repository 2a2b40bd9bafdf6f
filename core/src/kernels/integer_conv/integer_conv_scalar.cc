// One output pixel at a time. Bytes go four outputs at a time, in sums of 32 bits: what a microcontroller does best.
#include "arithmetic/fixedpoint.h"
#include "arithmetic/sliding_window.h"
#include "bitreplay.h"
#include "kernels/affine/affine_part.h"
#include "kernels/integer_conv/integer_conv.h"

namespace bitreplay {
namespace {

constexpr int64_t kSumsAtATime = 64;  // of a pixel, on the stack

template <class X, class W>
class Pixel {
 public:
  Pixel(const IntegerConvArgs& a, int64_t q) : a_(a) {
    const int64_t pixel = q % (a.out_h * a.out_w), out_row = pixel / a.out_w, out_column = pixel % a.out_w;
    const TapRange columns = taps_inside(out_column, a.stride, a.pad, a.kernel, a.width);
    rows_ = taps_inside(out_row, a.stride, a.pad, a.kernel, a.height);
    const int64_t top = q / (a.out_h * a.out_w) * a.height + out_row * a.stride - a.pad;
    x_at_ = (top * a.width + out_column * a.stride + columns.first - a.pad) * a.channels;
    w_ = static_cast<const W*>(a.w) + columns.first * a.channels;
    run_ = (columns.last - columns.first) * a.channels;  // pixels and taps of one row lie side by side
  }

  // Of the outputs from `first` on.
  void sums(int64_t first, int64_t count, int32_t* to) const {
    const int64_t last = first + count, taps = a_.channels * a_.kernel * a_.kernel;
    if (sizeof(X) == 1 && sizeof(W) == 1 && absolute(a_.x_zero) < 1 << 7 && taps < 1 << 15)
      for (; first + 4 <= last; first += 4, to += 4) four(first, to);
    for (; first < last; ++first) *to++ = one(first);
  }

 private:
  const X* x_of(int64_t row) const { return static_cast<const X*>(a_.x) + (x_at_ + row * a_.width * a_.channels); }
  const W* w_of(int64_t output, int64_t row) const { return w_ + (output * a_.kernel + row) * a_.kernel * a_.channels; }

  void four(int64_t output, int32_t* to) const {
    const int32_t zero = int32_t(a_.x_zero), run = int32_t(run_);
    const int64_t next = a_.kernel * a_.kernel * a_.channels;
    int32_t sum[4] = {};
    for (int64_t row = rows_.first; row < rows_.last; ++row) {
      const X* x = x_of(row);
      const W *w = w_of(output, row), *w1 = w + next, *w2 = w1 + next, *w3 = w2 + next;
      for (int32_t i = 0; i < run; ++i) {
        const int32_t value = int32_t(x[i]) - zero;
        sum[0] += value * int32_t(w[i]);
        sum[1] += value * int32_t(w1[i]);
        sum[2] += value * int32_t(w2[i]);
        sum[3] += value * int32_t(w3[i]);
      }
    }
    for (int i = 0; i < 4; ++i) to[i] = int32_t(round_shift(sum[i], a_.down));
  }

  int32_t one(int64_t output) const {
    const int64_t zero = a_.x_zero;
    // A product of 32 bits each is one instruction where 64 bits are two words.
    const bool short_factors = sizeof(X) < 4 && absolute(zero) < 1 << 24 && a_.channels * a_.kernel < 1 << 30;
    uint64_t total = 0;
    for (int64_t row = rows_.first; row < rows_.last; ++row) {
      const X* x = x_of(row);
      const W* w = w_of(output, row);
      if (short_factors) {
        for (int32_t i = 0; i < int32_t(run_); ++i) total += uint64_t(int64_t(x[i] - int32_t(zero)) * int32_t(w[i]));
      } else {
        for (int64_t i = 0; i < run_; ++i) total += uint64_t(int64_t(x[i]) - zero) * uint64_t(int64_t(w[i]));
      }
    }
    return int32_t(round_shift(int64_t(total), a_.down));
  }

  const IntegerConvArgs& a_;
  TapRange rows_;
  const W* w_;
  int64_t x_at_, run_;  // where the window begins, inside the map or above it; elements of a row of it
};

template <class X, class W>
void run_as(const IntegerConvArgs& a, const AffineArgs* affine) {
  for (int64_t q = 0; q < a.samples * a.out_h * a.out_w; ++q) {
    const Pixel<X, W> pixel(a, q);
    if (!affine) {
      pixel.sums(0, a.outputs, a.sums + q * a.outputs);
      continue;
    }
    int32_t sums[kSumsAtATime];
    for (int64_t first = 0; first < a.outputs; first += kSumsAtATime) {
      const int64_t count = min_of(kSumsAtATime, a.outputs - first);
      pixel.sums(first, count, sums);
      affine_scalar(affine_part(*affine, sums, q, first, count));
    }
  }
}

template <class X>
void run_x(const IntegerConvArgs& a, const AffineArgs* affine) {
  if (a.w_type == BR_INT8) return run_as<X, int8_t>(a, affine);
  if (a.w_type == BR_INT16) return run_as<X, int16_t>(a, affine);
  return run_as<X, int32_t>(a, affine);
}

void run(const IntegerConvArgs& a, const AffineArgs* affine) {
  if (a.x_type == BR_INT8) return run_x<int8_t>(a, affine);
  if (a.x_type == BR_INT16) return run_x<int16_t>(a, affine);
  return run_x<int32_t>(a, affine);
}

}  // namespace

void integer_conv_scalar(const IntegerConvArgs& a) { run(a, nullptr); }

bool integer_conv_scalar_affine(const IntegerConvArgs& a, const AffineArgs& affine) {
  run(a, &affine);
  return true;
}

const IntegerConv kIntegerConvScalar = {[](const IntegerConvArgs&) { return uint64_t(0); },
                                        [](const IntegerConvArgs&, uint8_t*) {}, integer_conv_scalar,
                                        integer_conv_scalar_affine};

}  // namespace bitreplay
