#include "kernels/lanes/lanes_neon.h"
#include "kernels/latent_code/latent_code_eights.h"

namespace bitreplay {
namespace {

struct Lanes {
  using Vector = Narrow8;

  template <class X>
  static Vector load(const X* from) {
    return load8(from);
  }
  template <class X>
  static void store(X* to, Vector x) {
    store8(to, x);
  }

  template <class Half>
  static Vector each(Vector a, Vector b, Half half) {
    return {{half(a.v[0], b.v[0]), half(a.v[1], b.v[1])}};
  }
  static Vector all(int32_t x) { return all8(x); }
  static Vector add(Vector a, Vector b) { return each(a, b, vaddq_s32); }
  static Vector sub(Vector a, Vector b) { return a - b; }
  static Vector up(Vector x, int places) { return each(x, all8(places), vshlq_s32); }
  static Vector down(Vector x, int places) {
    return each(x, all8(-places), [](int32x4_t a, int32x4_t by) {
      return vreinterpretq_s32_u32(vshlq_u32(vreinterpretq_u32_s32(a), by));
    });
  }
  static Vector at_least(Vector a, Vector b) {
    return each(a, b, [](int32x4_t x, int32x4_t y) { return vreinterpretq_s32_u32(vcgeq_s32(x, y)); });
  }
  static Vector odd(Vector x) {
    return each(x, all8(1), [](int32x4_t a, int32x4_t one) { return vreinterpretq_s32_u32(vtstq_s32(a, one)); });
  }

  static uint8_t bits_of(Vector mask) {
    static const uint16_t kPlaces[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    const int16x8_t narrow = vuzp1q_s16(vreinterpretq_s16_s32(mask.v[0]), vreinterpretq_s16_s32(mask.v[1]));
    return uint8_t(vaddvq_u16(vandq_u16(vreinterpretq_u16_s16(narrow), vld1q_u16(kPlaces))));
  }
  static Vector mask_of(uint8_t bits) {
    static const int32_t kPlaces[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    return each(all8(bits), load8(kPlaces),
                [](int32x4_t a, int32x4_t b) { return vreinterpretq_s32_u32(vtstq_s32(a, b)); });
  }
  static Vector select(Vector mask, Vector a, Vector b) {
    for (int k = 0; k < 2; ++k) a.v[k] = vbslq_s32(vreinterpretq_u32_s32(mask.v[k]), a.v[k], b.v[k]);
    return a;
  }
};

}  // namespace

void encode_latents_neon(const EncodeLatentsArgs& a) { encode_with<Lanes>(a); }
void decode_latents_neon(const DecodeLatentsArgs& a) { decode_with<Lanes>(a); }

}  // namespace bitreplay
