// Eight samples make tables of 256 sums of 32 or 64 bits. Four tables are looked up at a time, so that a sum is touched
// once for 32 products.
#include "kernels/latent_weights/latent_rare.h"

namespace bitreplay {
namespace {

template <class SumType, class GradientType>
struct Scalar {
  using Sum = SumType;
  using Gradient = GradientType;
  static constexpr int64_t kGroup = 8, kTableBytes = 256 * sizeof(Sum), kItems = 64, kWords = 64;

  static void arrange(const uint64_t* const* x, int64_t words, uint8_t* index) {
    for (int64_t word = 0; word < words; ++word) {
      for (int64_t byte = 0; byte < 8; ++byte, index += 8) {
        uint64_t square = 0;
        for (int64_t j = 0; j < kGroup; ++j) square |= x[j] ? ((x[j][word] >> (8 * byte)) & 255) << (8 * j) : 0;
        square = transpose8(square);
        for (int64_t k = 0; k < 8; ++k) index[k] = uint8_t(square >> (8 * k));
      }
    }
  }

  static void build(const Gradient* g, uint8_t* bytes) {
    Sum* table = reinterpret_cast<Sum*>(bytes);
    table[0] = 0;
    for (int64_t j = 0; j < kGroup; ++j)
      if (g[j] < 0) table[0] -= Sum(g[j]);
    for (int64_t j = 0; j < kGroup; ++j)
      for (int64_t m = 0; m < int64_t(1) << j; ++m) table[(int64_t(1) << j) + m] = table[m] + Sum(g[j]);
  }

  static void add_up(const LatentRuns<Sum>& runs, int64_t block, int64_t words, Sum* sums) {
    const int64_t lanes = runs.lanes, count = words * kWord;
    for (int64_t i = 0; i < count; ++i) sums[i] -= runs.minus;
    runs.each(block, [&](const uint8_t* bytes, const uint8_t* index) {
      const Sum* table = reinterpret_cast<const Sum*>(bytes);
      int64_t left = runs.length;
      for (; left >= 4; left -= 4, table += 4 * 256, index += 4 * lanes) {
        for (int64_t i = 0; i < count; ++i)
          sums[i] += Sum(2) * (table[index[i]] + table[256 + index[lanes + i]] + table[512 + index[2 * lanes + i]] +
                               table[768 + index[3 * lanes + i]]);
      }
      for (; left > 0; --left, table += 256, index += lanes)
        for (int64_t i = 0; i < count; ++i) sums[i] += Sum(2) * table[index[i]];
    });
  }

  static void step(const LatentUpdateArgs& a, int64_t row, const Sum* sums) { step_row(a, row, sums); }
};

struct ScanScalar {
  static constexpr int64_t kSumStart = 400, kSumChunk = 110;

  static constexpr int64_t kMaxMasks = 0;
  static void add_signed(const SignedRow* rows, int64_t count, int64_t word, uint16_t start, uint16_t* to) {
    for (int64_t i = 0; i < kWord; ++i) to[i] = start;
    for (const SignedRow* row = rows; row < rows + count; ++row)
      for (int64_t i = 0; i < kWord; ++i) to[i] = uint16_t(to[i] + (row->x[word] >> i & 1 ? row->g : 0));
  }

  template <class Visit>
  static void find(uint32_t place, uint64_t key, uint32_t reach, int64_t count, Visit visit) {
    for (int64_t i = 0; i < count; ++i, place += kElementFactor)
      if (random_bits_at(place, key) + reach < 2 * reach) visit(i, 1);
  }

  class Total {
   public:
    void add(const int16_t* g, uint32_t bits) {
      for (int j = 0; j < kChunk; ++j) sum_ += bits >> j & 1 ? g[j] : 0;
    }
    int32_t sum() const { return sum_; }

   private:
    int32_t sum_ = 0;
  };
};

using Narrow = Scalar<uint32_t, int16_t>;
using Wide = Scalar<uint64_t, int64_t>;

uint64_t scratch_bytes(const LatentUpdateArgs& a) {
  const int64_t wide = LatentPlan<Wide>(a).end;
  if (!gradients_are_narrow(a)) return uint64_t(wide);
  return uint64_t(max_of(int64_t(rare_scratch_bytes<ScanScalar, Narrow>(a)), sums_are_narrow(a) ? 0 : wide));
}

void run(const LatentUpdateArgs& a) {
  if (sums_are_narrow(a)) return run_rare<ScanScalar, Narrow>(a);
  LatentLoops<Wide>(a).run([](int64_t) { return true; });
}

}  // namespace

extern const LatentUpdate kLatentUpdateScalar = {scratch_bytes, run};

void latent_signs_scalar(const LatentSignsArgs& a) { signs_bits(a); }

}  // namespace bitreplay
