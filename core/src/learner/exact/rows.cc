// Rows of the sums: classes that come and go, the width of the sums, and whether images with these sums can exist.
#include <cstring>

#include "arithmetic/fixedpoint.h"
#include "learner/exact/learner.h"
#include "sums/check.h"
#include "sums/solve.h"

namespace bitreplay {
namespace {

size_t row_bytes(const ExactLearner& l) { return size_t(l.sums.bits / 8) * l.features; }
size_t products_bytes(const ExactLearner& l) { return size_t(l.sums.bits / 8) * size_t(triangle(l.features)); }

uint8_t* row_at(const ExactLearner& l, uint32_t row) {
  return static_cast<uint8_t*>(l.sums.class_sums) + row * row_bytes(l);
}

void move_products(const br_sums& sums, uint32_t to, uint32_t from, uint32_t count, size_t size) {
  if (sums.class_products) memmove(class_products_at(sums, to), class_products_at(sums, from), count * size);
}

// Of a multiple of 4.
void swap_bytes(uint8_t* a, uint8_t* b, size_t size) {
  for (size_t at = 0; at < size; at += 4) {
    uint8_t kept[4];
    memcpy(kept, a + at, 4);
    memcpy(a + at, b + at, 4);
    memcpy(b + at, kept, 4);
  }
}

void widen(void* sums, int64_t count) {
  const int32_t* from = static_cast<const int32_t*>(sums);
  uint8_t* to = static_cast<uint8_t*>(sums);
  for (int64_t at = count; at-- > 0;) {
    const int64_t value = from[at];
    memcpy(to + 8 * at, &value, sizeof value);
  }
}

void narrow(void* sums, int64_t count) {
  uint8_t* bytes = static_cast<uint8_t*>(sums);
  for (int64_t at = 0; at < count; ++at) {
    int64_t value;
    memcpy(&value, bytes + 8 * at, sizeof value);
    const int32_t less = int32_t(uint32_t(uint64_t(value)));
    memcpy(bytes + 4 * at, &less, sizeof less);
  }
}

}  // namespace

void leave_nothing(ExactLearner* l) {
  l->known.names.clear();
  l->known.lineage.clear();
  l->known.forgotten = 0;
  l->sums.bits = 32;
  l->sums.classes = 0;
  memset(l->sums.products, 0, size_t(4 * triangle(l->features)));
  l->learning = l->ready = false;
}

void clear(ExactLearner* l) {
  leave_nothing(l);
  l->known.experiences = 0;
  memcpy(l->settings, l->model.settings.bytes, l->model.settings.size);
  l->settings_size = l->model.settings.size;
}

int64_t pictures_of(const ExactLearner& l) { return first_of(l, l.sums.classes); }

int64_t first_of(const ExactLearner& l, uint32_t row) {
  int64_t sum = 0;
  for (uint32_t c = 0; c < row; ++c) sum += l.sums.counts[c];
  return sum;
}

int64_t extent_of(const ExactLearner& l) {
  return l.known.forgotten && l.sums.classes ? br_sums_extent(&l.sums) : pictures_of(l);
}

bool has_room_for(const ExactLearner& l, int64_t extent, int64_t pictures) {
  return extent <= (l.options.wide ? kMaxPictures : kNarrowPictures) && l.digests.has_room_for(pictures);
}

void set_width(ExactLearner* l, int64_t extent) {
  const uint32_t bits = br_sums_bits(extent);
  if (bits == l->sums.bits) return;
  const int64_t rows = int64_t(l->sums.classes) * l->features, products = triangle(l->features);
  const auto change = bits == 64 ? widen : narrow;
  change(l->sums.class_sums, rows);
  change(l->sums.products, products);
  if (l->sums.class_products) change(l->sums.class_products, int64_t(l->sums.classes) * products);
  l->sums.bits = bits;
}

int row_of(ExactLearner* l, const br_name& name, uint32_t* row) {
  bool found;
  *row = l->known.names.find(name, &found);
  if (found) return BR_OK;
  if (l->sums.classes == l->options.classes || !l->known.names.fits(name)) return BR_FULL;
  l->known.names.insert(*row, name);
  const uint32_t behind = l->sums.classes++ - *row;
  memmove(l->sums.counts + *row + 1, l->sums.counts + *row, behind * sizeof *l->sums.counts);
  memmove(row_at(*l, *row + 1), row_at(*l, *row), behind * row_bytes(*l));
  move_products(l->sums, *row + 1, *row, behind, products_bytes(*l));
  l->sums.counts[*row] = 0;
  memset(row_at(*l, *row), 0, row_bytes(*l));
  if (l->sums.class_products) memset(class_products_at(l->sums, *row), 0, products_bytes(*l));
  for (int64_t i = 0; i < l->brought % kBroughtAtOnce; ++i)
    l->labels[i] = uint16_t(l->labels[i] + (l->labels[i] >= *row));
  return BR_OK;
}

void erase_row(ExactLearner* l, uint32_t row) {
  l->known.names.erase(row);
  const uint32_t behind = --l->sums.classes - row;
  memmove(l->sums.counts + row, l->sums.counts + row + 1, behind * sizeof *l->sums.counts);
  memmove(row_at(*l, row), row_at(*l, row + 1), behind * row_bytes(*l));
  move_products(l->sums, row, row + 1, behind, products_bytes(*l));
}

void move_row(ExactLearner* l, uint32_t from, uint32_t to) {
  if (l->digests.values && from < to)
    l->digests.rotate(first_of(*l, from), first_of(*l, from + 1), first_of(*l, to + 1));
  if (l->digests.values && from > to) l->digests.rotate(first_of(*l, to), first_of(*l, from), first_of(*l, from + 1));
  const int step = from < to ? 1 : -1;
  for (uint32_t row = from; row != to; row += uint32_t(step)) {
    const uint32_t other = row + uint32_t(step);
    const int64_t count = l->sums.counts[row];
    l->sums.counts[row] = l->sums.counts[other];
    l->sums.counts[other] = count;
    swap_bytes(row_at(*l, row), row_at(*l, other), row_bytes(*l));
    if (l->sums.class_products)
      swap_bytes(class_products_at(l->sums, row), class_products_at(l->sums, other), products_bytes(*l));
  }
}

bool has_no_products(const ExactLearner& l) {
  for (int64_t at = 0; at < triangle(l.features); ++at)
    if (sum_at(l.sums.products, l.sums.bits, at)) return false;
  return true;
}

bool are_possible(const ExactLearner& l, void* work) {
  return br_sums_possible(&l.sums, l.known.forgotten > 0, work) == BR_OK;
}

bool have_factor(ExactLearner* l) {
  // Of what a forgotten class left nothing is known.
  return l->known.forgotten || !pictures_of(*l) || br_sums_has_factor(&l->sums, l->use_work()) == BR_OK;
}

}  // namespace bitreplay
