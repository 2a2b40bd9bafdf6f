// The level code of eight channels at a time, all rows of them: their thresholds or two values stay in registers.
//
// Eight bits of a plane are one byte of its word (least significant first). What is left of eight channels passes
// through a buffer. Lanes: a Vector of eight int32, whose arithmetic wraps, and
//    load(from) and store(to, x)    of int8, int16 or int32; storing keeps the low bits
//    all(x), add, sub, down(x, places) without sign, up(x, places)
//    at_least(a, b)                 a mask: -1 where a >= b
//    bits_of(mask), mask_of(bits)   bit i belongs to lane i
//    select(mask, a, b), odd(x)     odd: the mask of lanes whose lowest bit is set
#pragma once
#include <cstring>

#include "arithmetic/fixedpoint.h"
#include "arithmetic/packing.h"
#include "bitreplay.h"
#include "kernels/latent_code/latent_code.h"

namespace bitreplay {
namespace {

constexpr int64_t kEight = 8, kMaxThresholds = 15, kMaxBits = 32;

template <class Lanes, class X>
class EightLanes {
  using Vector = typename Lanes::Vector;

  static Vector load(const X* from, int64_t count) {
    if (count == kEight) return Lanes::load(from);
    X buffer[kEight] = {};
    for (int64_t i = 0; i < count; ++i) buffer[i] = from[i];
    return Lanes::load(buffer);
  }
  static void store(X* to, int64_t count, Vector x) {
    if (count == kEight) return Lanes::store(to, x);
    X buffer[kEight];
    Lanes::store(buffer, x);
    for (int64_t i = 0; i < count; ++i) to[i] = buffer[i];
  }
  // Entry `number` of each of `count` rows of a table with `columns` columns.
  static Vector column(const int32_t* table, int64_t columns, int64_t number, int64_t count) {
    int32_t column[kEight] = {};
    for (int64_t i = 0; i < count; ++i) column[i] = table[i * columns + number];
    return Lanes::load(column);
  }

 public:
  static void encode(const EncodeLatentsArgs& a) {
    const int64_t words = words_for(a.channels), count = a.thresholds ? (int64_t(1) << a.bits) - 1 : 0;
    const Vector low = Lanes::all(int32_t(a.low));
    for (int64_t i = 0; i < a.rows * a.bits * words; ++i) a.code[i] = 0;
    for (int64_t c = 0; c < a.channels; c += kEight) {
      const int64_t lanes = min_of(kEight, a.channels - c);
      const uint8_t used = uint8_t((1 << lanes) - 1);
      Vector thresholds[kMaxThresholds];
      for (int64_t t = 0; t < count; ++t) thresholds[t] = column(a.thresholds + c * count, count, t, lanes);
      for (int64_t row = 0; row < a.rows; ++row) {
        const Vector x = load(static_cast<const X*>(a.x) + row * a.channels + c, lanes);
        uint8_t* code = reinterpret_cast<uint8_t*>(a.code + row * a.bits * words) + c / kEight;
        if (count == 1) {
          *code = Lanes::bits_of(Lanes::at_least(x, thresholds[0])) & used;
          continue;
        }
        Vector index = a.thresholds ? Lanes::all(0) : Lanes::down(Lanes::sub(x, low), int(a.cut));
        for (int64_t t = 0; t < count; ++t) index = Lanes::sub(index, Lanes::at_least(x, thresholds[t]));
        for (int64_t plane = 0; plane < a.bits; ++plane, index = Lanes::down(index, 1))
          code[plane * words * 8] = Lanes::bits_of(Lanes::odd(index)) & used;
      }
    }
  }

  static void decode(const DecodeLatentsArgs& a) {
    const int64_t words = words_for(a.channels), count = int64_t(1) << a.bits;
    const Vector offset = Lanes::all(int32_t(uint32_t(a.low) + uint32_t((int64_t(1) << a.cut) >> 1)));
    for (int64_t c = 0; c < a.channels; c += kEight) {
      const int64_t lanes = min_of(kEight, a.channels - c);
      const int32_t* table = a.values ? a.values + c * count : nullptr;
      const bool two = table && a.bits == 1;
      const Vector zero = two ? column(table, 2, 0, lanes) : offset, one = two ? column(table, 2, 1, lanes) : offset;
      for (int64_t row = 0; row < a.rows; ++row) {
        const uint8_t* code = reinterpret_cast<const uint8_t*>(a.code + row * a.bits * words) + c / kEight;
        X* to = static_cast<X*>(a.x) + row * a.channels + c;
        if (two) {
          store(to, lanes, Lanes::select(Lanes::mask_of(*code), one, zero));
          continue;
        }
        Vector index = Lanes::all(0);
        for (int64_t plane = a.bits - 1; plane >= 0; --plane)
          index = Lanes::sub(Lanes::add(index, index), Lanes::mask_of(code[plane * words * 8]));
        if (table) {
          int32_t numbers[kEight];
          Lanes::store(numbers, index);
          for (int64_t i = 0; i < lanes; ++i) to[i] = X(table[(i << a.bits) + numbers[i]]);
        } else {
          store(to, lanes, Lanes::add(Lanes::up(index, int(a.cut)), offset));
        }
      }
    }
  }
};

template <class Lanes>
void encode_with(const EncodeLatentsArgs& a) {
  if (a.thresholds ? a.bits > 4 : a.bits + a.cut > kMaxBits) return encode_latents_scalar(a);
  if (a.x_type == BR_INT8) return EightLanes<Lanes, int8_t>::encode(a);
  if (a.x_type == BR_INT16) return EightLanes<Lanes, int16_t>::encode(a);
  EightLanes<Lanes, int32_t>::encode(a);
}

template <class Lanes>
void decode_with(const DecodeLatentsArgs& a) {
  if (a.x_type == BR_INT8) return EightLanes<Lanes, int8_t>::decode(a);
  if (a.x_type == BR_INT16) return EightLanes<Lanes, int16_t>::decode(a);
  EightLanes<Lanes, int32_t>::decode(a);
}

}  // namespace
}  // namespace bitreplay
