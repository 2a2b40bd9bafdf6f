// latent_signs (kernels/latent_weights/latent_update.h): whole elements are packed like activations; of two weights in
// a byte, the sign bits 3 and 7 come together, and those of four bytes are added up.
#include <arm_neon.h>

#include "bitreplay.h"
#include "kernels/latent_weights/latent_step.h"
#include "kernels/sign/pack_signs.h"

namespace bitreplay {
namespace {

// Two bits of each of 16 bytes, in the byte; four bytes make one.
inline uint8x16_t pairs_of(const uint8_t* latent) {
  static const int8_t kPlaces[16] = {0, 2, 4, 6, 0, 2, 4, 6, 0, 2, 4, 6, 0, 2, 4, 6};
  const uint8x16_t not_negative = vmvnq_u8(vld1q_u8(latent));
  const uint8x16_t low = vandq_u8(vshrq_n_u8(not_negative, 3), vdupq_n_u8(1));
  return vshlq_u8(vsliq_n_u8(low, vshrq_n_u8(not_negative, 7), 1), vld1q_s8(kPlaces));
}

void signs_of_halves(const LatentSignsArgs& a) {
  const int64_t row_bytes = (a.channels + 1) / 2;
  for (int64_t row = 0; row < a.rows; ++row) {
    const uint8_t* latent = static_cast<const uint8_t*>(a.latent) + row * row_bytes;
    for (int64_t word = 0; word < a.words; ++word, latent += kWord / 2) {
      const int64_t lanes = a.channels - word * kWord;
      if (lanes < kWord) {
        a.w[row * a.words + word] = signs_of_word(latent, lanes);
        continue;
      }
      const uint8x16_t eights = vpaddq_u8(pairs_of(latent), pairs_of(latent + 16));
      a.w[row * a.words + word] = vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(eights, eights)), 0);
    }
  }
}

}  // namespace

void latent_signs_neon(const LatentSignsArgs& a) {
  if (a.bits == 4) return signs_of_halves(a);
  const int type = a.bits == 8 ? BR_INT8 : a.bits == 16 ? BR_INT16 : BR_INT32;
  PackSignsArgs args = {};
  args.rows = a.rows;
  args.channels = a.channels;
  args.x = a.latent;
  args.x_type = type;
  args.bits = a.w;
  pack_signs_neon(args);
}

}  // namespace bitreplay
