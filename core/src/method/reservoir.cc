// The reservoir of a class, draws from the memory, the number of epochs and their order: docs/law.md section 10.
// engine/method.py is the reference.
#include "arithmetic/counter.h"
#include "bitreplay_method.h"

namespace bitreplay {
namespace {

constexpr uint64_t kReservoir = 0x5EED0001, kDraw = 0x5EED0002, kShuffle = 0x5EED0003;

uint64_t divide_up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

uint32_t scaled(uint32_t random, uint32_t below) { return uint32_t(uint64_t(random) * below >> 32); }

// Places of a shuffle that were exchanged: those not named hold their own number.
struct Exchanged {
  uint32_t *places, *values, count;

  uint32_t* find(uint32_t place) const {
    for (uint32_t at = 0; at < count; ++at)
      if (places[at] == place) return values + at;
    return nullptr;
  }
  uint32_t at(uint32_t place) const {
    const uint32_t* moved = find(place);
    return moved ? *moved : place;
  }
  void set(uint32_t place, uint32_t value) {
    uint32_t* const moved = find(place);
    if (moved) {
      *moved = value;
      return;
    }
    places[count] = place;
    values[count++] = value;
  }
};

// The largest key below `parent` rises to it.
void sink(uint64_t* keys, uint32_t parent, uint32_t end) {
  for (;;) {
    uint64_t child = 2 * uint64_t(parent) + 1;
    if (child >= end) return;
    if (child + 1 < end && keys[child + 1] > keys[child]) ++child;
    if (keys[child] <= keys[parent]) return;
    const uint64_t kept = keys[parent];
    keys[parent] = keys[child];
    keys[child] = kept;
    parent = uint32_t(child);
  }
}

void sort(uint64_t* keys, uint32_t count) {
  for (uint32_t parent = count / 2; parent-- > 0;) sink(keys, parent, count);
  for (uint32_t end = count; end > 1;) {
    --end;
    const uint64_t largest = keys[0];
    keys[0] = keys[end];
    keys[end] = largest;
    sink(keys, 0, end);
  }
}

}  // namespace
}  // namespace bitreplay

using namespace bitreplay;

int64_t br_reservoir_slot(uint64_t seed, uint32_t label, uint64_t seen, uint32_t held, uint32_t slots) {
  if (held < slots) return held;
  const uint64_t random = random_bits(counter_key(seed, label, kReservoir), uint32_t(seen));
  const uint64_t slot = random * (seen + 1) >> 32;  // modulo 2^64, as the reference's
  return slot < slots ? int64_t(slot) : -1;
}

int br_draw(uint64_t seed, uint64_t draw, uint32_t stored, uint32_t count, uint32_t* exchanged, uint32_t* picked) {
  if (!stored || stored > INT32_MAX || count > INT32_MAX || (count && (!exchanged || !picked))) return BR_BAD_ARGUMENT;
  const uint64_t key = counter_key(seed, draw, kDraw);
  Exchanged places = {exchanged, exchanged + count, 0};
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t random = random_bits(key, i);
    if (count > stored) {
      picked[i] = scaled(random, stored);
      continue;
    }
    const uint32_t j = i + scaled(random, stored - i);
    picked[i] = places.at(j);
    places.set(j, places.at(i));
  }
  return BR_OK;
}

uint64_t br_epochs(uint64_t samples, uint32_t batch_size, uint32_t epochs, uint32_t min_steps) {
  const uint64_t needed = divide_up(min_steps, divide_up(samples, batch_size));
  return epochs > needed ? epochs : needed;
}

uint32_t br_replayed(uint32_t fresh, uint32_t batch_size, uint32_t replay_batch_size) {
  return uint32_t(divide_up(uint64_t(replay_batch_size) * fresh, batch_size));
}

int br_epoch_order(uint64_t seed, uint64_t experience, uint64_t epoch, uint32_t samples, uint64_t* keys) {
  if (samples && !keys) return BR_BAD_ARGUMENT;
  const uint64_t key = counter_key(seed, experience << 32 | epoch, kShuffle);
  for (uint32_t i = 0; i < samples; ++i) keys[i] = uint64_t(random_bits(key, i)) << 32 | i;
  sort(keys, samples);
  return BR_OK;
}
