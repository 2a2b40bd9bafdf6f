// The checksum covers the whole file, with zeros in place of its own digits.
#include <cstring>

#include "learner/state/header.h"
#include "learner/state/input.h"
#include "learner/state/sha256.h"

namespace bitreplay {

int check_checksum(br_read* read, void* context, size_t size) {
  if (size < kDigitsAt + kDigits) return BR_DAMAGED;
  Input in(read, context, size);
  Sha256 digest;
  char digits[kDigits], computed[kDigits], zeros[kDigits];
  memset(zeros, '0', sizeof zeros);
  uint8_t piece[256];
  for (size_t at = 0; at < size;) {
    const size_t end = at < kDigitsAt ? kDigitsAt : at == kDigitsAt ? at + kDigits : size;
    const size_t some = end - at < sizeof piece ? end - at : sizeof piece;
    if (!in.bytes(piece, some)) return BR_STORAGE;
    if (at == kDigitsAt) memcpy(digits, piece, kDigits);
    digest.update(at == kDigitsAt ? static_cast<const void*>(zeros) : piece, some);
    at += some;
  }
  digest.finish_hex(computed);
  return memcmp(computed, digits, kDigits) ? BR_DAMAGED : BR_OK;
}

}  // namespace bitreplay
