// affine: y = saturate(y_zero + round((x - x_zero) a + b [+ (residual - residual_zero) residual_factor] / 2^shift)).
//
// In     x, residual (may be null): rows * channels elements of int8, int16 or int32; a: int32, b: int64, per channel.
// Out    y: rows * channels of int8, int16 or int32; *saturated grows by the number of elements that left [low, high].
// Bound  for compiled programs |(x - x_zero) a| < 2^60, |b| < 2^61; sums wrap modulo 2^64.
// Reads and writes nothing outside; y overlaps nothing.
#pragma once
#include <cstdint>

namespace bitreplay {

struct AffineArgs {
  int64_t rows, channels;
  const void* x;
  int x_type;
  const int32_t* a;
  const int64_t* b;
  const void* residual;
  int residual_type;  // -1: there is none
  void* y;
  int y_type;
  int64_t* saturated;
  int64_t x_zero, shift, y_zero, low, high, residual_zero, residual_factor;
  const uint8_t* prepared = nullptr;  // what the same table's AffinePrepare made, 64-byte aligned; null: nothing
};

// What can be made once of an affine whose a and b are constant: `bytes` reads sizes, types and attributes only (0:
// nothing), `make` a and b too.
struct AffinePrepare {
  uint64_t (*bytes)(const AffineArgs&) = nullptr;  // null: nothing
  void (*make)(const AffineArgs&, uint8_t* prepared) = nullptr;
};
extern const AffinePrepare kAffinePrepareAvx2, kAffinePrepareAvx512, kAffinePrepareWasm;

// What x is clipped to first.
struct ClippedTo {
  int16_t low, high;
};

using Affine = void(const AffineArgs&);
Affine affine_scalar, affine_avx2, affine_avx512, affine_neon, affine_wasm;
// The same of 16-bit x that are clipped first. Tells whether it did the work; where it did not, it changed nothing.
using AffineClipped = bool(const AffineArgs&, ClippedTo);
AffineClipped affine_clipped_avx2, affine_clipped_avx512, affine_clipped_neon, affine_clipped_wasm;

}  // namespace bitreplay
