// Resizes a picture of any size to the network's input: the twin of data/pictures/resize.py, docs/pictures.md.
#pragma once
#include <cstdint>

#include "bitreplay_learner.h"

namespace bitreplay {

constexpr uint32_t kLargestSide = 1 << 14;

bool is_picture(const br_picture* picture);
// Writes side x side x 3 bytes. The picture must be valid.
void fit(const br_picture& picture, int64_t side, uint8_t* fitted);

}  // namespace bitreplay
