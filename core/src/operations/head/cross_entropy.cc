// cross_entropy: engine/layers/cross_entropy.py.
#include "arithmetic/quant.h"
#include "arithmetic/softmax.h"
#include "machine/operation.h"

namespace bitreplay {
namespace cross_entropy {

constexpr int64_t kPoint = kProbabilityPoint;
constexpr int64_t kLowestLogit = -(int64_t(1) << 31);
constexpr int64_t kMaxWeights = 1024;  // weights kept on the stack; those of further classes are made again when needed

enum { LOGITS, LABELS, G, E, P_LABEL };
enum { BITS };

void check(Checker& c) {
  c.per_sample(LOGITS, type_bit(BR_INT32), 1);
  c.per_sample(LABELS, type_bit(BR_INT32), 0);
  c.per_sample(G, kStored, 1);
  c.same_shape(LOGITS, G);
  c.exponents(E);
  c.per_sample(P_LABEL, type_bit(BR_INT32), 0);
  c.gradient_bits(BITS, G);
}

int run(const Call& c) {
  const int64_t classes = c.size(LOGITS, 0);
  int64_t weights[kMaxWeights];
  for (int64_t n = 0; n < c.samples(); ++n) {
    const int32_t* logits = c.data<int32_t>(LOGITS) + n * classes;
    const int64_t label = c.data<int32_t>(LABELS)[n];
    if (label < 0 || label >= classes) return BR_BAD_LABEL;
    int64_t top = kLowestLogit, total = 0, others = 0;
    for (int64_t k = 0; k < classes; ++k) top = max_of(top, logits[k]);
    auto make = [&](int64_t k) { return logits[k] > kLowestLogit ? exp_minus(top - logits[k]) : 0; };
    auto probability = [&](int64_t k) {
      const int64_t weight = k < kMaxWeights ? weights[k] : make(k);
      return total > 0 ? ((weight << kPoint) + (total >> 1)) / total : 0;
    };
    for (int64_t k = 0; k < classes; ++k) {
      const int64_t weight = make(k);
      if (k < kMaxWeights) weights[k] = weight;
      total += weight;
    }
    for (int64_t k = 0; k < classes; ++k) others += k == label ? 0 : probability(k);
    c.data<int32_t>(P_LABEL)[n] = int32_t(probability(label));
    auto fill = [&](int64_t at, int64_t count, int64_t* tile) {
      for (int64_t i = 0; i < count; ++i) tile[i] = at + i == label ? -others : probability(at + i);
    };
    quantise_sample(fill, classes, -kPoint - kLogitPoint, c.attribute(BITS), c.type(G), c.bytes(G), n * classes,
                    c.data<int32_t>(E) + n);
  }
  return BR_OK;
}

}  // namespace cross_entropy

extern const Operation kCrossEntropy = {.name = "cross_entropy",
                                        .code = 90,
                                        .reads = "logits labels",
                                        .writes = "g e p_label",
                                        .attributes = "bits",
                                        .check = cross_entropy::check,
                                        .run = cross_entropy::run};

}  // namespace bitreplay
