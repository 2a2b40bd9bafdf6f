// Adding pictures to sums, taking them away, and adding sums to sums: docs/law.md section 13, "Sums".
//
// Pictures are taken 64 at a time, widened to int16 and laid out in pairs; four rows of the triangle of products are
// made at once from them and then added to the sums, so that these are read and written once for 64 pictures.
#include "arithmetic/fixedpoint.h"
#include "machine/dispatch.h"
#include "sums/check.h"

namespace bitreplay {
namespace {

constexpr int64_t kPictures = 64;

void lay_out(const int8_t* x, int64_t pictures, int64_t features, int64_t stride, int16_t* pairs) {
  for (int64_t k = 0; k < pictures; k += 2)
    for (int64_t j = 0; j < stride; ++j) {
      int16_t* pair = pairs + k * stride + 2 * j;
      pair[0] = j < features ? x[k * features + j] : 0;
      pair[1] = j < features && k + 1 < pictures ? x[(k + 1) * features + j] : 0;
    }
}

template <typename Sum, typename Unsigned>
void add_row(Sum* to, const int32_t* from, int64_t count, int64_t sign) {
  for (int64_t j = 0; j < count; ++j) to[j] = Sum(Unsigned(to[j]) + Unsigned(sign) * Unsigned(from[j]));
}

void add_row(void* sums, uint32_t bits, int64_t at, const int32_t* from, int64_t count, int64_t sign) {
  if (bits == 32) add_row<int32_t, uint32_t>(static_cast<int32_t*>(sums) + at, from, count, sign);
  else add_row<int64_t, uint64_t>(static_cast<int64_t*>(sums) + at, from, count, sign);
}

// How many pictures of a block are added at once: with products of classes, those of one class that follow each other.
int64_t together(const br_sums& sums, const int32_t* labels, int64_t pictures) {
  int64_t many = min_of(pictures, 1);
  while (many < min_of(kPictures, pictures) && (!sums.class_products || labels[many] == labels[0])) ++many;
  return many;
}

// Changes the counts, or nothing if a label or what is left is wrong.
int change_counts(br_sums* sums, const int32_t* labels, uint64_t pictures, int sign) {
  for (uint64_t k = 0; k < pictures; ++k) {
    bool known = labels[k] >= 0 && uint32_t(labels[k]) < sums->classes;
    if (known && (sign > 0 || sums->counts[labels[k]] > 0)) {
      sums->counts[labels[k]] += sign;
      continue;
    }
    while (k-- > 0) sums->counts[labels[k]] -= sign;
    return known ? BR_BAD_ARGUMENT : BR_BAD_LABEL;
  }
  return BR_OK;
}

}  // namespace
}  // namespace bitreplay

using namespace bitreplay;

uint32_t br_sums_bits(int64_t pictures) { return pictures <= kNarrowPictures ? 32 : 64; }

uint64_t br_sums_add_bytes(uint32_t features) {
  const int64_t stride = padded(features, kPairColumns);
  return uint64_t(stride * (kPictures * int64_t(sizeof(int16_t)) + 4 * int64_t(sizeof(int32_t))));
}

int br_sums_add(br_sums* sums, const int8_t* x, const int32_t* labels, uint64_t pictures, int sign, void* work) {
  const Kernels* kernels = chosen_kernels();
  const int64_t before = checked_pictures(sums);
  if (!kernels) return BR_UNKNOWN_ISA;
  if (before < 0 || (sign != 1 && sign != -1) || (pictures && (!x || !labels)) || !work) return BR_BAD_ARGUMENT;
  if (reinterpret_cast<uintptr_t>(work) % 64) return BR_MISALIGNED;
  if (sign > 0 && int64_t(pictures) > (sums->bits == 32 ? kNarrowPictures : kMaxPictures) - before)
    return BR_BAD_ARGUMENT;
  const int64_t features = sums->features, stride = padded(features, kPairColumns);
  for (int64_t at = 0; at < int64_t(pictures) * features; ++at)
    if (x[at] < -kLargestNumber) return BR_BAD_ARGUMENT;
  if (int failed = change_counts(sums, labels, pictures, sign)) return failed;
  int16_t* pairs = static_cast<int16_t*>(work);
  int32_t* out = reinterpret_cast<int32_t*>(pairs + kPictures * stride);
  for (int64_t start = 0, many; start < int64_t(pictures); start += many) {
    many = together(*sums, labels + start, int64_t(pictures) - start);
    const int8_t* block = x + start * features;
    for (int64_t k = 0; k < many; ++k)
      for (int64_t j = 0; j < features; ++j)
        change_sum(sums->class_sums, sums->bits, int64_t(labels[start + k]) * features + j,
                   sign * block[k * features + j]);
    lay_out(block, many, features, stride, pairs);
    uint8_t* const own = class_products_at(*sums, labels[start]);
    for (int64_t row = 0; row < features; row += 4) {
      kernels->sums.pair_products(pairs, (many + 1) / 2, stride, row, min_of(row + 4, features), out);
      for (int64_t r = 0; r < 4 && row + r < features; ++r) {
        const int64_t at = triangle(row + r);
        add_row(sums->products, sums->bits, at, out + r * stride, row + r + 1, sign);
        if (own) add_row(own, sums->bits, at, out + r * stride, row + r + 1, sign);
      }
    }
  }
  return BR_OK;
}

int br_sums_combine(br_sums* sums, const br_sums* other, int sign) {
  const int64_t before = checked_pictures(sums), more = checked_pictures(other);
  if (before < 0 || more < 0 || (sign != 1 && sign != -1)) return BR_BAD_ARGUMENT;
  if (sums->features != other->features || sums->classes != other->classes) return BR_BAD_ARGUMENT;
  if (!sums->class_products != !other->class_products) return BR_BAD_ARGUMENT;
  if (sign > 0 && more > (sums->bits == 32 ? kNarrowPictures : kMaxPictures) - before) return BR_BAD_ARGUMENT;
  for (uint32_t c = 0; c < sums->classes; ++c)
    if (sums->counts[c] + sign * other->counts[c] < 0) return BR_BAD_ARGUMENT;
  for (uint32_t c = 0; c < sums->classes; ++c) sums->counts[c] += sign * other->counts[c];
  const int64_t entries = int64_t(sums->classes) * sums->features, products = triangle(sums->features);
  for (int64_t at = 0; at < entries; ++at)
    change_sum(sums->class_sums, sums->bits, at, sign * sum_at(other->class_sums, other->bits, at));
  for (int64_t at = 0; at < products; ++at)
    change_sum(sums->products, sums->bits, at, sign * sum_at(other->products, other->bits, at));
  for (int64_t at = 0; sums->class_products && at < sums->classes * products; ++at)
    change_sum(sums->class_products, sums->bits, at, sign * sum_at(other->class_products, other->bits, at));
  return BR_OK;
}
