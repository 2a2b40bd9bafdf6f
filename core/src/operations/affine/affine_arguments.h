// The arguments of affine's kernels, from a call; convolutions whose sums go straight into an affine read them too.
#pragma once
#include "machine/call.h"

namespace bitreplay {
namespace affine {

enum { X, A, B, RESIDUAL, Y, SATURATED };
enum { X_ZERO, SHIFT, Y_ZERO, LOW, HIGH, RESIDUAL_ZERO, RESIDUAL_FACTOR };

inline AffineArgs arguments(const Call& c) {
  return {.rows = c.samples() * c.size(X, 0) * c.size(X, 1),
          .channels = c.size(X, 2),
          .x = c.bytes(X),
          .x_type = c.type(X),
          .a = c.data<int32_t>(A),
          .b = c.data<int64_t>(B),
          .residual = c.bytes(RESIDUAL),
          .residual_type = c.has(RESIDUAL) ? c.type(RESIDUAL) : -1,
          .y = c.bytes(Y),
          .y_type = c.type(Y),
          .saturated = c.data<int64_t>(SATURATED),
          .x_zero = c.attribute(X_ZERO),
          .shift = c.attribute(SHIFT),
          .y_zero = c.attribute(Y_ZERO),
          .low = c.attribute(LOW),
          .high = c.attribute(HIGH),
          .residual_zero = c.attribute(RESIDUAL_ZERO),
          .residual_factor = c.attribute(RESIDUAL_FACTOR),
          .prepared = c.packed_weights()};
}

inline bool is_constant(const Call& c) {
  return c.tensor(A).info.region == BR_CONSTANT && c.tensor(B).info.region == BR_CONSTANT;
}

}  // namespace affine
}  // namespace bitreplay
