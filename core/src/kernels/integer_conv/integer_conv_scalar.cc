// One output pixel at a time. Weights that are bytes go four outputs at a time, in sums of 32 bits: what a
// microcontroller does best. Everything else goes through elements of 64 bits, which is less code than loops for each
// pair of types.
#include "arithmetic/elements.h"
#include "arithmetic/fixedpoint.h"
#include "arithmetic/sliding_window.h"
#include "kernels/affine/affine_part.h"
#include "kernels/integer_conv/integer_conv.h"

namespace bitreplay {
namespace {

constexpr int64_t kSumsAtATime = 64;  // of a pixel, on the stack
constexpr int64_t kElementsAtATime = 32;

class Pixel {
 public:
  Pixel(const IntegerConvArgs& a, int64_t q) : a_(a) {
    const int64_t pixel = q % (a.out_h * a.out_w), out_row = pixel / a.out_w, out_column = pixel % a.out_w;
    const TapRange columns = taps_inside(out_column, a.stride, a.pad, a.kernel, a.width);
    rows_ = taps_inside(out_row, a.stride, a.pad, a.kernel, a.height);
    const int64_t top = q / (a.out_h * a.out_w) * a.height + out_row * a.stride - a.pad;
    x_at_ = (top * a.width + out_column * a.stride + columns.first - a.pad) * a.channels;
    w_at_ = columns.first * a.channels;
    run_ = (columns.last - columns.first) * a.channels;  // pixels and taps of one row lie side by side
  }

  // Of the outputs from `first` on.
  void sums(int64_t first, int64_t count, int32_t* to) const {
    const int64_t last = first + count;
    if (fits<int8_t>(BR_INT8))
      for (; first + 4 <= last; first += 4, to += 4) four<int8_t>(first, to);
    else if (fits<int16_t>(BR_INT16))
      for (; first + 4 <= last; first += 4, to += 4) four<int16_t>(first, to);
    for (; first < last; ++first) *to++ = one(first);
  }

 private:
  int64_t x_of(int64_t row) const { return x_at_ + row * a_.width * a_.channels; }
  int64_t w_of(int64_t output, int64_t row) const {
    return w_at_ + (output * a_.kernel + row) * a_.kernel * a_.channels;
  }

  // x of that type, weights that are bytes, and sums of 2^30 at most.
  template <class X>
  bool fits(int type) const {
    constexpr int64_t largest = int64_t(1) << (8 * sizeof(X) - 1);
    return a_.x_type == type && a_.w_type == BR_INT8 && absolute(a_.x_zero) <= largest &&
           a_.channels * a_.kernel * a_.kernel <= (1 << 22) / largest;
  }

  template <class X>
  void four(int64_t output, int32_t* to) const {
    const int32_t zero = int32_t(a_.x_zero), run = int32_t(run_);
    const int64_t next = a_.kernel * a_.kernel * a_.channels;
    int32_t sum[4] = {};
    for (int64_t row = rows_.first; row < rows_.last; ++row) {
      const X* x = static_cast<const X*>(a_.x) + x_of(row);
      const int8_t* w = static_cast<const int8_t*>(a_.w) + w_of(output, row);
      const int8_t *w1 = w + next, *w2 = w1 + next, *w3 = w2 + next;
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
    int64_t total = 0, x[kElementsAtATime], w[kElementsAtATime];
    for (int64_t row = rows_.first; row < rows_.last; ++row) {
      for (int64_t at = 0; at < run_; at += kElementsAtATime) {
        const int64_t count = min_of(kElementsAtATime, run_ - at);
        widen(a_.x_type, a_.x, x_of(row) + at, count, x);
        widen(a_.w_type, a_.w, w_of(output, row) + at, count, w);
        for (int64_t i = 0; i < count; ++i) total = add(total, mul(sub(x[i], a_.x_zero), w[i]));
      }
    }
    return int32_t(round_shift(total, a_.down));
  }

  const IntegerConvArgs& a_;
  TapRange rows_;
  int64_t x_at_, w_at_, run_;  // where the window begins, inside the map or above it; elements of a row of it
};

void run(const IntegerConvArgs& a, const AffineArgs* affine) {
  int32_t sums[kSumsAtATime];
  for (int64_t q = 0; q < a.samples * a.out_h * a.out_w; ++q) {
    const Pixel pixel(a, q);
    if (!affine) pixel.sums(0, a.outputs, a.sums + q * a.outputs);
    for (int64_t first = 0; affine && first < a.outputs; first += kSumsAtATime) {
      const int64_t count = min_of(kSumsAtATime, a.outputs - first);
      pixel.sums(first, count, sums);
      affine_scalar(affine_part(*affine, sums, q, first, count));
    }
  }
}

}  // namespace

void integer_conv_scalar(const IntegerConvArgs& a) { run(a, nullptr); }

bool integer_conv_scalar_affine(const IntegerConvArgs& a, const AffineArgs& affine, const uint8_t*) {
  run(a, &affine);
  return true;
}

const IntegerConv kIntegerConvScalar = {[](const IntegerConvArgs&) { return uint64_t(0); },
                                        [](const IntegerConvArgs&, uint8_t*) {}, integer_conv_scalar,
                                        integer_conv_scalar_affine};

}  // namespace bitreplay
