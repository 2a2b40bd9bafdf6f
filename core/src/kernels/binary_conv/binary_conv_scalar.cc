// Eight outputs side by side: each lane counts bits in bytes (at most 8 a word), folds the bytes before they overflow.
#include "kernels/binary_conv/binary_conv.h"

#include "arithmetic/packing.h"
#include "arithmetic/sliding_window.h"

namespace bitreplay {
namespace {

constexpr int64_t kWordsBeforeFold = 31;  // 31 * 8 < 256

struct Counter {
  uint64_t bytes[kInterleaved] = {};
  int32_t counts[kInterleaved] = {};
  int64_t words = 0;

  void fold() {
    for (int lane = 0; lane < kInterleaved; ++lane) {
      counts[lane] += sum_bytes(bytes[lane]);
      bytes[lane] = 0;
    }
    words = 0;
  }

  void row(const uint64_t* x, const uint64_t* w, int64_t length) {
    for (int64_t i = 0; i < length; ++i) {
      if (words == kWordsBeforeFold) fold();
      for (int lane = 0; lane < kInterleaved; ++lane) bytes[lane] += count_bytes(x[i] ^ w[kInterleaved * i + lane]);
      ++words;
    }
  }
};

}  // namespace

void binary_conv_scalar(const BinaryConvArgs& a) {
  const int64_t block_words = a.kernel * a.kernel * a.words * kInterleaved;
  const int64_t blocks = (a.outputs + kInterleaved - 1) / kInterleaved;
  const uint64_t* ones = a.w + blocks * block_words;
  for (int64_t block = 0; block < blocks; ++block) {
    const uint64_t* w = a.w + block * block_words;
    for (int64_t n = 0; n < a.samples; ++n) {
      const uint64_t* x = a.x + n * a.height * a.width * a.words;
      for (int64_t pixel = 0; pixel < a.out_h * a.out_w; ++pixel) {
        const int64_t row0 = pixel / a.out_w * a.stride - a.pad, column0 = pixel % a.out_w * a.stride - a.pad;
        const TapRange rows = taps_inside(pixel / a.out_w, a.stride, a.pad, a.kernel, a.height);
        const TapRange columns = taps_inside(pixel % a.out_w, a.stride, a.pad, a.kernel, a.width);
        Counter counter;
        int64_t taps = 0;
        for (int64_t tap = 0; tap < a.kernel * a.kernel; ++tap) {
          const int64_t r = tap / a.kernel, c = tap % a.kernel;
          const bool inside = rows.first <= r && r < rows.last && columns.first <= c && c < columns.last;
          if (!inside && !a.padding) continue;
          const uint64_t* from = inside ? x + ((row0 + r) * a.width + column0 + c) * a.words : ones;
          counter.row(from, w + tap * a.words * kInterleaved, a.words);
          ++taps;
        }
        counter.fold();
        int16_t* sums = a.sums + (n * a.out_h * a.out_w + pixel) * a.outputs + block * kInterleaved;
        const int64_t lanes = a.outputs - block * kInterleaved < kInterleaved ? a.outputs % kInterleaved : kInterleaved;
        for (int64_t lane = 0; lane < lanes; ++lane) sums[lane] = int16_t(taps * a.channels - 2 * counter.counts[lane]);
      }
    }
  }
}

}  // namespace bitreplay
