// What convolutions prepare of the affine behind them (affine_in_order.h): NEON and WebAssembly.
#pragma once
#include "arithmetic/elements.h"
#include "kernels/affine/affine_in_order.h"
#include "kernels/integer_conv/depthwise_conv.h"
#include "kernels/integer_conv/integer_conv.h"

namespace bitreplay {
namespace {

// An affine of some rows whose x are at hand; `prepared` may be null.
using AffineOfRows = void(const AffineArgs&, const uint8_t* prepared);

inline uint64_t in_order_bytes(const IntegerConvArgs&, const AffineArgs& affine) {
  return AffineInOrder::bytes(affine.channels);
}
inline void prepare_in_order(const IntegerConvArgs& a, const AffineArgs& affine, uint8_t* prepared) {
  const int64_t x = a.x_type == BR_INT8 ? 128 + absolute(a.x_zero) : 1 << 15, w = a.w_type == BR_INT8 ? 128 : 1 << 15;
  const bool known = a.down == 0 && a.x_type != BR_INT32 && a.w_type != BR_INT32 &&
                     (a.x_type == BR_INT8 || !a.x_zero) && absolute(a.x_zero) <= 1 << 14;
  const int64_t largest = known ? a.kernel * a.kernel * a.channels * x * w : int64_t(1) << 31;
  reinterpret_cast<AffineInOrder*>(prepared)->prepare(affine, largest);
}

inline uint64_t in_order_bytes(const DepthwiseConvArgs& a) { return AffineInOrder::bytes(a.affine->channels); }
inline void prepare_in_order(const DepthwiseConvArgs& a, uint8_t* prepared) {
  reinterpret_cast<AffineInOrder*>(prepared)->prepare(*a.affine, a.kernel * a.kernel * 256 * 128);
}

}  // namespace
}  // namespace bitreplay
