// Integer convolution with AVX-512: pairs of 16-bit products (integer_conv_pairs.h) and two ways of its own.
//
//    quads     bytes times bytes by vpdpbusd, four products a lane: with u = x + 128, which has no sign,
//              sum (x - zero) w = sum u w - (128 + zero) sum w; outside the map x = zero. What is taken from a sum
//              stands behind the weights, one number an output. Modulo 2^32, as in integer_conv_pairs.h.
//              Eight pixels by 32 outputs: their sums wait for no product before.
//    narrow    pairs for at most 16 outputs: one vector of them, eight pixels.
#include <immintrin.h>

#include "kernels/integer_conv/integer_conv_input_grad_pairs.h"
#include "kernels/integer_conv/integer_conv_pairs_affine.h"

namespace bitreplay {
namespace {

#define INLINE __attribute__((always_inline)) inline

struct PairLanes {
  using Vector = __m512i;
  static constexpr int64_t kLanes = 16;
  static Vector zero() { return _mm512_setzero_si512(); }
  static Vector load(const int32_t* from) { return _mm512_load_si512(from); }
  static void store(int32_t* to, Vector x) { _mm512_storeu_si512(to, x); }
  static Vector pair(const int16_t* from) {
    int32_t both;
    memcpy(&both, from, sizeof both);
    return _mm512_set1_epi32(both);
  }
  static Vector dot(Vector sums, Vector x, Vector w) { return _mm512_dpwssd_epi32(sums, x, w); }
};

constexpr IntegerConv kPairs = integer_conv_with<PairLanes>();
constexpr int64_t kVector = PairLanes::kLanes;

INLINE __m512i broadcast(const void* from) {
  int32_t four;
  memcpy(&four, from, sizeof four);
  return _mm512_set1_epi32(four);
}

// Rows of taps of some pixels, where they lie; `count` groups of four bytes each.
template <int kPixels>
struct PixelBytes {
  const uint8_t* x[kPixels];
  int64_t rows, count, apart;
};

struct Pair {
  static INLINE __m512i pixel(const uint8_t* from) { return broadcast(from); }
  static INLINE __m512i dot(__m512i sum, __m512i x, __m512i w) { return _mm512_dpwssd_epi32(sum, x, w); }
};

// kVectors vectors of outputs of kPixels pixels from number `q` on, of which `pixels` are stored; `from.x` has kPixels.
template <class Kind, int kVectors, int kPixels>
void sums_of(const IntegerConvArgs& a, const PixelBytes<kPixels>& from, const uint8_t* w, const int32_t* start,
             int64_t q, int64_t pixels, int64_t output) {
  static_assert(kPixels * kVectors == 8, "eight sums");
  const __m512i zero = _mm512_setzero_si512(), even = start ? _mm512_loadu_si512(start) : zero;
  const __m512i odd = start && kVectors > 1 ? _mm512_loadu_si512(start + kVector) : even;
// Variables, not an array, which compilers would keep in memory.
#define EACH_SUM(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define BEGIN(i) __m512i sum##i = i % kVectors ? odd : even;
#define STEP(i) sum##i = Kind::dot(sum##i, Kind::pixel(from.x[i / kVectors] + at), i % kVectors ? last : first);
#define STORE(i) _mm512_storeu_si512(to + i / kVectors * apart + i % kVectors * kVector, sum##i);
  EACH_SUM(BEGIN)
  for (int64_t row = 0; row < from.rows; ++row) {
    for (int64_t at = row * from.apart; at < row * from.apart + 4 * from.count; at += 4, w += 64 * kVectors) {
      const __m512i first = _mm512_load_si512(w), last = _mm512_load_si512(w + 64 * (kVectors - 1));
      EACH_SUM(STEP)
    }
  }
  alignas(64) int32_t exact[8 * kVector];
  const bool whole = pixels >= kPixels && output + kVectors * kVector <= a.outputs && a.down == 0;
  int32_t* to = whole ? a.sums + q * a.outputs + output : exact;
  const int64_t apart = whole ? a.outputs : kVectors * kVector;
  EACH_SUM(STORE)
#undef STORE
#undef STEP
#undef BEGIN
#undef EACH_SUM
  for (int64_t p = 0; !whole && p < min_of(pixels, kPixels); ++p)
    for (int64_t o = 0; o < min_of(kVectors * kVector, a.outputs - output); ++o)
      a.sums[(q + p) * a.outputs + output + o] = int32_t(round_shift(exact[p * apart + o], a.down));
}

int64_t padded_row(const IntegerConvArgs& a) { return (row_of(a) + 3) / 4 * 4; }
constexpr int64_t kQuadOutputs = 2 * kVector, kQuadPixels = 8;
// In vectors of outputs: pairs of them, and a last one by itself.
int64_t quad_vectors(const IntegerConvArgs& a) { return groups_of(a, kVector); }

bool serves_quads(const IntegerConvArgs& a) {
  const bool bytes = a.x_type == BR_INT8 && a.w_type == BR_INT8 && a.x_zero == int8_t(a.x_zero);
  if (!bytes || padded_row(a) > kLongestRow || a.outputs <= kVector / 2) return false;
  return a.down <= 0 || row_of(a) * 256 * 128 < int64_t(1) << 31;
}

uint64_t quad_bytes(const IntegerConvArgs& a) { return uint64_t(quad_vectors(a) * kVector * (padded_row(a) + 4)); }

void pack_quads(const IntegerConvArgs& a, uint8_t* packed_weights) {
  const int64_t row = row_of(a), padded = padded_row(a), outputs = quad_vectors(a) * kVector;
  const int8_t* w = static_cast<const int8_t*>(a.w);
  memset(packed_weights, 0, quad_bytes(a));
  for (int64_t o = 0; o < a.outputs; ++o) {
    const int64_t first = o / kQuadOutputs * kQuadOutputs, group = min_of(kQuadOutputs, outputs - first);
    int64_t sum = 0;
    uint8_t* to = packed_weights + first * padded + (o - first) * 4;
    for (int64_t k = 0; k < row; ++k) {
      sum += w[o * row + k];
      to[k / 4 * 4 * group + k % 4] = uint8_t(w[o * row + k]);
    }
    const int32_t taken = int32_t(-(128 + a.x_zero) * sum);
    memcpy(packed_weights + outputs * padded + 4 * o, &taken, sizeof taken);
  }
}

// kVectors vectors of outputs of kPixels pixels from number `q` on, of which `pixels` are there; `x` has kPixels.
template <int kVectors, int kPixels, class Finish>
__attribute__((noinline)) void quad_sums(const uint8_t* const* x, int64_t padded, const uint8_t* w,
                                         const int32_t* taken, int64_t q, int64_t pixels, int64_t output,
                                         Finish& finish) {
  const __m512i sign = _mm512_set1_epi8(-128);
  const uint8_t* from[kPixels];
  __m512i sums[kPixels][kVectors];
#pragma GCC unroll 8
  for (int p = 0; p < kPixels; ++p) {
    from[p] = x[p];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) sums[p][v] = _mm512_loadu_si512(taken + v * kVector);
  }
  for (int64_t at = 0; at < padded; at += 4, w += 64 * kVectors) {
    __m512i weights[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) weights[v] = _mm512_load_si512(w + 64 * v);
#pragma GCC unroll 8
    for (int p = 0; p < kPixels; ++p) {
      const __m512i four = _mm512_xor_si512(broadcast(from[p] + at), sign);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sums[p][v] = _mm512_dpbusd_epi32(sums[p][v], four, weights[v]);
    }
  }
  finish.put(q, pixels, output, sums);
}

// Sums as they are, or rounded.
struct PutSums {
  const IntegerConvArgs& a;

  template <int kPixels, int kVectors>
  INLINE void put(int64_t q, int64_t pixels, int64_t output, const __m512i (&sums)[kPixels][kVectors]) {
    int32_t* to = a.sums + q * a.outputs + output;
    if (pixels >= kPixels && a.outputs - output >= kVectors * kVector && a.down == 0) {
#pragma GCC unroll 8
      for (int p = 0; p < kPixels; ++p)
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) _mm512_storeu_si512(to + p * a.outputs + v * kVector, sums[p][v]);
      return;
    }
    alignas(64) int32_t exact[kPixels][kVectors * kVector];
    memcpy(exact, sums, sizeof exact);
    for (int64_t p = 0; p < min_of(pixels, kPixels); ++p)
      for (int64_t o = 0; o < min_of(kVectors * kVector, a.outputs - output); ++o)
        to[p * a.outputs + o] = int32_t(round_shift(exact[p][o], a.down));
  }
};

// What affine makes of them.
template <bool kRaise, bool kResidual, bool kTies>
struct PutBytes {
  const AffineArgs& a;
  const AffineOfSums& affine;
  AffineOfSums::Finish<kRaise, kResidual, kTies> finish;

  PutBytes(const AffineArgs& args, const AffineOfSums& of) : a(args), affine(of), finish(of) {}

  template <int kPixels, int kVectors>
  INLINE void put(int64_t q, int64_t pixels, int64_t output, const __m512i (&sums)[kPixels][kVectors]) {
    const int64_t channels = a.channels, at = q * channels + output;
    int8_t* to = static_cast<int8_t*>(a.y) + at;
    const int8_t* residual = static_cast<const int8_t*>(a.residual) + (kResidual ? at : 0);
    const int64_t there = min_of(kVectors * kVector, channels - output);
    auto with = finish;
    const auto first = affine.column(output / kVector), second = affine.column(output / kVector + kVectors - 1);
    const auto put = [&](const __m512i(&sums)[kVectors], int64_t p, int64_t count) __attribute__((always_inline)) {
      const Lanes own = {sums[0]}, next = {sums[kVectors - 1]};
      const Lanes low = kResidual ? load_some(residual + p * channels, count) : own;
      const Lanes high =
          kResidual && kVectors > 1 ? load_some(residual + p * channels + kVector, count - kVector) : next;
      const Lanes results = AffineOfSums::exact(with, first, own, low);
      AffineOfSums::store(with, results, kVectors > 1 ? AffineOfSums::exact(with, second, next, high) : results,
                          to + p * channels, count);
    };
    if (there == kWords && pixels >= kPixels) {
#pragma GCC unroll 8
      for (int p = 0; p < kPixels; ++p) put(sums[p], p, kWords);
    } else {
#pragma GCC unroll 8
      for (int p = 0; p < kPixels; ++p)
        if (p < pixels) put(sums[p], p, there);
    }
    finish.outside = with.outside;
  }
};

template <class Finish>
void quads_of_pixels(const IntegerConvArgs& a, const uint8_t* const* x, int64_t q, int64_t pixels, int64_t output,
                     Finish& finish) {
  const int64_t padded = padded_row(a), outputs = quad_vectors(a) * kVector;
  const int32_t* taken = reinterpret_cast<const int32_t*>(a.packed_weights + outputs * padded) + output;
  const uint8_t* w = a.packed_weights + output * padded;
  const bool few = pixels <= kQuadPixels / 2;
  if (outputs - output > kVector) {
    if (few) quad_sums<2, kQuadPixels / 2>(x, padded, w, taken, q, pixels, output, finish);
    else quad_sums<2, kQuadPixels>(x, padded, w, taken, q, pixels, output, finish);
  } else {
    if (few) quad_sums<1, kQuadPixels / 2>(x, padded, w, taken, q, pixels, output, finish);
    else quad_sums<1, kQuadPixels>(x, padded, w, taken, q, pixels, output, finish);
  }
}

template <class Finish>
void run_quads(const IntegerConvArgs& a, Finish& finish) {
  const int64_t pixels = a.samples * a.out_h * a.out_w, padded = padded_row(a);
  const uint8_t* x = static_cast<const uint8_t*>(a.x);
  const uint8_t* from[kQuadPixels];
  // Every pixel is a whole number of quads, and there are as many as results.
  if (a.kernel == 1 && a.pad == 0 && a.stride == 1 && a.channels % 4 == 0 && a.out_h == a.height &&
      a.out_w == a.width) {
    const auto block = [&](int64_t q, int64_t output) {
      const int64_t count = min_of(kQuadPixels, pixels - q);
      for (int64_t p = 0; p < kQuadPixels; ++p) from[p] = x + (q + (p < count ? p : 0)) * a.channels;
      quads_of_pixels(a, from, q, count, output, finish);
    };
    // What there is less of stays in the first cache.
    if (a.outputs > pixels) {
      for (int64_t o = 0; o < a.outputs; o += kQuadOutputs)
        for (int64_t q = 0; q < pixels; q += kQuadPixels) block(q, o);
    } else {
      for (int64_t q = 0; q < pixels; q += kQuadPixels)
        for (int64_t o = 0; o < a.outputs; o += kQuadOutputs) block(q, o);
    }
    return;
  }
  alignas(64) uint8_t inputs[kQuadPixels][kLongestRow];
  OutputPixel next = {0, 0, 0};
  for (int64_t q = 0; q < pixels; q += kQuadPixels) {
    const int64_t count = min_of(kQuadPixels, pixels - q);
    for (int64_t p = 0; p < kQuadPixels; ++p) {
      from[p] = inputs[p < count ? p : 0];
      if (p >= count) continue;
      memset(inputs[p], int(a.x_zero), size_t(padded));
      over_tap_rows(a, next, [&](int64_t at, int64_t row, int64_t first, int64_t numbers) {
        memcpy(inputs[p] + row * a.kernel * a.channels + first, x + at, size_t(numbers));
      });
      next.advance(a);
    }
    for (int64_t o = 0; o < a.outputs; o += kQuadOutputs) quads_of_pixels(a, from, q, count, o, finish);
  }
}

template <bool kRaise, bool kResidual, bool kTies>
bool run_quads_into(const IntegerConvArgs& a, const AffineArgs& args, const AffineOfSums& affine) {
  PutBytes<kRaise, kResidual, kTies> put(args, affine);
  run_quads(a, put);
  affine.count(put.finish.outside);
  return true;
}

bool serves_narrow(const IntegerConvArgs& a) {
  return a.x_type == BR_INT16 && a.outputs <= kVector && fits_pairs(a, kVector);
}

// Eight pixels of a row whose taps are all inside, or gathered.
void run_narrow(const IntegerConvArgs& a) {
  constexpr int kPixels = 8;
  const int64_t pixels = a.samples * a.out_h * a.out_w, pairs = pairs_of(a);
  alignas(64) int16_t inputs[kPixels][kLongestRow];
  OutputPixel next = {0, 0, 0};
  for (int64_t q = 0; q < pixels; q += kPixels) {
    const int64_t count = min_of(kPixels, pixels - q);
    PixelBytes<kPixels> from = {{}, 1, pairs, 0};
    if (can_read_in_place(a, next, kPixels)) {
      const int64_t row = (next.sample * a.height + next.row * a.stride - a.pad) * a.width;
      const int16_t* x = static_cast<const int16_t*>(a.x) + (row + next.column * a.stride - a.pad) * a.channels;
      from.rows = a.kernel, from.count = tap_row_of(a) / 2, from.apart = 2 * a.width * a.channels;
      for (int64_t p = 0; p < kPixels; ++p, next.advance(a))
        from.x[p] = reinterpret_cast<const uint8_t*>(x + p * a.stride * a.channels);
    } else {
      for (int64_t p = 0; p < kPixels; ++p) {
        from.x[p] = reinterpret_cast<const uint8_t*>(inputs[p < count ? p : 0]);
        if (p >= count) continue;
        gather<int16_t>(a, next, inputs[p]);
        next.advance(a);
      }
    }
    sums_of<Pair, 1, kPixels>(a, from, a.packed_weights, nullptr, q, count, 0);
  }
}

uint64_t packed_weights_bytes(const IntegerConvArgs& a) {
  if (serves_quads(a)) return quad_bytes(a);
  return serves_narrow(a) ? derived_bytes_of(a, kVector) : kPairs.packed_weights_bytes(a);
}

void pack_weights(const IntegerConvArgs& a, uint8_t* packed_weights) {
  if (serves_quads(a)) return pack_quads(a, packed_weights);
  if (serves_narrow(a)) return derive_for(a, packed_weights, kVector);
  kPairs.pack_weights(a, packed_weights);
}

void run(const IntegerConvArgs& a) {
  if (serves_quads(a)) {
    PutSums put = {a};
    return run_quads(a, put);
  }
  if (serves_narrow(a)) return run_narrow(a);
  kPairs.run(a);
}

bool run_affine(const IntegerConvArgs& a, const AffineArgs& args) {
  if (serves_narrow(a) || a.down) return false;
  if (!serves_quads(a)) return run_pairs_affine<PairLanes>(a, args);
  const AffineOfSums affine(args, row_of(a) * 256 * 128);
  if (!affine.fits()) return false;
  if (args.residual && affine.raises()) return run_quads_into<true, true, true>(a, args, affine);
  if (args.residual) return run_quads_into<false, true, true>(a, args, affine);
  if (affine.ties() && affine.raises()) return run_quads_into<true, false, true>(a, args, affine);
  if (affine.ties()) return run_quads_into<false, false, true>(a, args, affine);
  if (affine.raises()) return run_quads_into<true, false, false>(a, args, affine);
  return run_quads_into<false, false, false>(a, args, affine);
}

}  // namespace

const IntegerConv kIntegerConvAvx512 = {packed_weights_bytes, pack_weights, run, run_affine};
const IntegerConvInputGrad kIntegerConvInputGradAvx512 = integer_conv_input_grad_with<PairLanes>();

}  // namespace bitreplay
