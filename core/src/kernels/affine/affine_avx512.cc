// affine on eight lanes of 64 bits, channel by channel down the rows, so that a channel's numbers are loaded once.
// Where every number provably fits 32 bits, affine_lanes.h does twice as many at a time and is taken first.
// Bound: products and sums are those of affine.h; they wrap modulo 2^64 as the reference's do.
#include "kernels/affine/affine_lanes.h"
#include "kernels/affine/affine_pairs.h"
#include "kernels/lanes/lanes_avx512.h"

namespace bitreplay {
namespace {

template <class X, class R, class Y>
void run_as(const AffineArgs& a, const R* residual) {
  const X* x = static_cast<const X*>(a.x);
  Y* y = static_cast<Y*>(a.y);
  const __m512i x_zero = _mm512_set1_epi64(a.x_zero), y_zero = _mm512_set1_epi64(a.y_zero);
  const __m512i factor = _mm512_set1_epi64(a.residual_factor);
  const __m512i shortcut = _mm512_mullo_epi64(_mm512_set1_epi64(residual ? a.residual_zero : 0), factor);
  const __m512i low = _mm512_set1_epi64(a.low), high = _mm512_set1_epi64(a.high);
  const RoundShift8 round(a.shift);
  int64_t outside = 0;
  for (int64_t c = 0; c < a.channels; c += kLanes8) {
    const __mmask8 mask = lanes_mask(a.channels - c);
    // The zeros enter once for each channel: sums wrap, so their order does not matter.
    const __m512i slope = load8(a.a + c, mask), zeros = _mm512_add_epi64(_mm512_mullo_epi64(x_zero, slope), shortcut);
    const __m512i offset = _mm512_sub_epi64(load8(a.b + c, mask), zeros);
    for (int64_t at = c; at < a.rows * a.channels; at += a.channels) {
      __m512i sum = _mm512_add_epi64(_mm512_mul_epi32(load8(x + at, mask), slope), offset);
      if (residual) sum = _mm512_add_epi64(sum, _mm512_mullo_epi64(load8(residual + at, mask), factor));
      sum = _mm512_add_epi64(round(sum), y_zero);
      const __m512i inside = _mm512_min_epi64(_mm512_max_epi64(sum, low), high);
      outside += __builtin_popcount(_mm512_mask_cmpneq_epi64_mask(mask, sum, inside));
      store8(y + at, mask, inside);
    }
  }
  *a.saturated = int64_t(uint64_t(*a.saturated) + uint64_t(outside));
}

}  // namespace

void affine_avx512(const AffineArgs& a) {
  if (affine_pairs(a) || affine_lanes(a)) return;
  with_type(a.x_type, [&](auto x) {
    with_type(a.y_type, [&](auto y) {
      using X = decltype(x);
      using Y = decltype(y);
      if (!a.residual) return run_as<X, int8_t, Y>(a, nullptr);
      with_type(a.residual_type,
                [&](auto r) { run_as<X, decltype(r), Y>(a, static_cast<const decltype(r)*>(a.residual)); });
    });
  });
}

bool affine_clipped_avx512(const AffineArgs& a, ClippedTo clipped) { return affine_pairs(a, clipped); }

extern const AffinePrepare kAffinePrepareAvx512 = {PairsOfSums::bytes_of, PairsOfSums::make};

}  // namespace bitreplay
