// latent_update where few weights can change: their random bits are looked at first, and sums are made for the few
// alone.
//
// With one shift s >= 32 the change of a weight is floor((P + u) / 2^32), P = floor(sum * mantissa / 2^(s - 32)) and u
// its random bits. |sum| <= M, the sum of |g| of its output, so that -reach <= P < reach for
//    reach = floor(M |mantissa| / 2^(s - 32)) + 1,
// (for s > 62 too: the law takes s - 62 places away first, and 30 more leave the same P),
// and the change is 0 unless u < reach or u >= 2^32 - reach: unless (u + reach) mod 2^32 < 2 reach. Where M = 0 it is
// 0.
//
// The sum of one weight, at stride 1: the signs of a channel in a sample are a string of bits, the padded map row by
// row, and a tap is a distance in it. The gradients of an output lie in the same order, `pitch` a row, 0 between the
// rows. So
//    sum = 2 (sum of g where the bit is set) - (sum of g where the tap is inside),
// the second from one more string, whose bits are set where a sign counts. Bits are read 32 at a time, a chunk.
//
// Where many can change but few gradients of an output are not 0, sums are made of these alone, 64 channels at a time.
// Everything else is left for the tables of latent_update_loops.h.
//
// A Scan has
//    find(place, key, reach, count, found)    found(i, mask): bit k of a mask that is not 0 is element i + k of
//                                             `count`; place = number of the first element * kElementFactor +
//                                             lower half of key
//    class Total: add(g, bits) for a chunk, sum()
//    add_signed(rows, count, word, start, to) to[i] = start + sum of g where bit i of the row's word is set,
//                                             modulo 2^16
//    kMaxMasks                               bytes up to which it reads a mask of 16 bits a sign instead; 0: never
//    spread(x, words, masks)                  makes 64 such masks a word
//    kSumStart, kSumChunk                     what a sum costs, in units of an item of the tables for one weight
#pragma once
#include "kernels/latent_weights/latent_step.h"
#include "kernels/latent_weights/latent_update_loops.h"

namespace bitreplay {

constexpr int64_t kChunk = 32, kMaxOutputs = 1 << 15;
constexpr int64_t kMaxRows = 256, kStepItems = 16;

// A gradient and the signs that it meets.
struct SignedRow {
  const uint64_t* x;
  int16_t g;
  const int16_t* masks;  // null: x is read
};

// Outputs that are left for the tables.
struct Outputs {
  uint64_t words[kMaxOutputs / kWord] = {};
  void insert(int64_t o) { words[o / kWord] |= uint64_t(1) << (o % kWord); }
  bool has(int64_t o) const { return words[o / kWord] >> (o % kWord) & 1; }
};

// `max_bytes`: as many channels at a time as fit, at least one word of them.
struct RarePlan {
  int64_t pitch, length, chunks, string_bytes, words, gradients, sums, masks, strings, valid, end;
  bool spread;  // signs as masks, too

  RarePlan(const LatentUpdateArgs& a, int64_t max_bytes, int64_t max_masks) {
    pitch = a.width + 2 * a.pad;
    length = (a.height + 2 * a.pad) * pitch;
    chunks = ((a.out_h - 1) * pitch + a.out_w + kChunk - 1) / kChunk;
    const int64_t last = (a.kernel - 1) * (pitch + 1) + (chunks - 1) * kChunk;  // the last chunk of the last tap
    string_bytes = (max_of(last / 8 + 8, (length + 7) / 8) + 7) / 8 * 8;
    gradients = 0;
    sums = kOutputsTogether * a.samples * chunks * kChunk * 2;
    const int64_t mask_bytes = a.samples * a.height * a.width * a.words * kWord * 2;
    spread = mask_bytes <= max_masks;
    masks = sums + a.words * kWord * 4;
    valid = masks + (spread ? mask_bytes : 0);
    strings = valid + string_bytes;
    const int64_t word_bytes = kWord * a.samples * string_bytes;
    words = max_of(1, min_of(a.words, (max_bytes - (strings - (valid - masks))) / word_bytes));
    end = strings + words * word_bytes;
  }
};

template <class Scan, class Path>
class RareSteps {
 public:
  RareSteps(const LatentUpdateArgs& a, int64_t max_bytes)
      : a_(a), plan_(a, max_bytes, Scan::kMaxMasks), narrow_(narrow_step(a)), down_(min_of(narrow_.shift - 32, 63)) {}

  static bool fits(const LatentUpdateArgs& a) {
    return a.stride == 1 && sums_are_narrow(a) && a.outputs <= kMaxOutputs;
  }

  // All outputs but those it inserts into `left`.
  void run(Outputs& left) {
    make_valid();
    bool strings_made = true;  // channels behind the first are looked at where an output is rare
    for (int64_t word = 0; word < a_.words && strings_made; word += plan_.words) {
      strings_made = false;
      for (int64_t tile = a_.first; tile < a_.last; tile += kWord) {
        Measure measured[kWord];
        const int64_t end = min_of(tile + kWord, a_.last);
        measure(tile, end - tile, measured);
        for (int64_t first = tile; first < end; first += kOutputsTogether) {
          const int64_t count = min_of(kOutputsTogether, end - first);
          step_outputs(first, count, measured + first - tile, word, strings_made, left);
        }
      }
    }
  }

 private:
  int64_t per_output() const { return a_.samples * plan_.chunks * kChunk; }
  int16_t* gradients() const { return reinterpret_cast<int16_t*>(a_.scratch + plan_.gradients); }
  int16_t* masks() const { return reinterpret_cast<int16_t*>(a_.scratch + plan_.masks); }
  uint8_t* valid() const { return a_.scratch + plan_.valid; }
  uint8_t* strings() const { return a_.scratch + plan_.strings; }

  bool serves() const { return narrow_.shift >= 32 && narrow_.mantissa == int32_t(narrow_.mantissa); }

  int64_t items() const { return (a_.samples + Path::kGroup - 1) / Path::kGroup * a_.out_h * a_.out_w; }

  // Up to which sums of single weights cost less than those of all: 2 reach / 2^32 of them are looked at. A step costs
  // as much as kStepItems.
  int64_t largest_reach(int64_t count) const {
    const int64_t one = Scan::kSumStart + Scan::kSumChunk * plan_.chunks * a_.samples;
    return ((int64_t(1) << 31) - 1) / one * min_of(min_of(items(), count) + kStepItems, one);
  }

  int64_t reach_of(int64_t magnitude) const {
    const int64_t mantissa = narrow_.mantissa < 0 ? -narrow_.mantissa : narrow_.mantissa;
    return ((magnitude * mantissa) >> down_) + 1;
  }
  int64_t change_of_sum(int32_t sum, uint32_t random) const {
    return ((sum * narrow_.mantissa >> down_) + random) >> 32;
  }

  // Of one output: the sum of |g|, and how many are not 0.
  struct Measure {
    int32_t magnitude, count;
  };

  void measure(int64_t first, int64_t count, Measure* measured) const {
    int32_t magnitude[kWord] = {}, live[kWord] = {};
    for (int64_t n = 0; n < a_.samples; ++n) {
      if (a_.e[n] <= kNoGradient) continue;
      const int64_t from = n * a_.out_h * a_.out_w * a_.outputs + first, shift = sub(a_.top, a_.e[n]);
      // A constant count, so that compilers unroll the loops.
      if (count == kWord) measure_sample(kWord, from, shift, magnitude, live);
      else measure_sample(count, from, shift, magnitude, live);
    }
    for (int64_t o = 0; o < count; ++o) measured[o] = {magnitude[o], live[o]};
  }

  __attribute__((always_inline)) void measure_sample(int64_t count, int64_t from, int64_t shift, int32_t* magnitude,
                                                     int32_t* live) const {
    for (int64_t pixel = 0; pixel < a_.out_h * a_.out_w; ++pixel, from += a_.outputs) {
      int16_t row[kWord];
      aligned_row(a_, from, count, shift, row);
      for (int64_t o = 0; o < count; ++o) {
        magnitude[o] += row[o] < 0 ? -row[o] : row[o];
        live[o] += row[o] != 0;
      }
    }
  }

  // Up to 8 outputs, channels from `word` on.
  void step_outputs(int64_t first, int64_t count, const Measure* measured, int64_t word, bool& strings_made,
                    Outputs& left) {
    bool aligned = false;
    for (int64_t o = 0; o < count; ++o) {
      if (measured[o].magnitude == 0) continue;
      const int64_t reach = serves() ? reach_of(measured[o].magnitude) : 0;
      const bool rare = reach > 0 && reach <= largest_reach(measured[o].count);
      const bool few = measured[o].count <= min_of(kMaxRows, items());
      if (!rare && word > 0) continue;  // the whole output was done with the first channels, or is left
      if (!rare && !few) {
        left.insert(first + o);
        continue;
      }
      if (!aligned) align(first, count);
      aligned = true;
      const int16_t* g = gradients() + o * per_output();
      if (!rare) {
        all_of_few(first + o, g);
        continue;
      }
      const int64_t words = min_of(plan_.words, a_.words - word);
      if (!strings_made) make_strings(word, words);
      strings_made = true;
      output(first + o, g, uint32_t(reach), word, words);
    }
  }

  // Gradients of up to 8 outputs brought to one exponent, [outputs][samples][chunks * 32].
  void align(int64_t first, int64_t count) {
    for (int64_t i = 0; i < count * per_output(); ++i) gradients()[i] = 0;
    for (int64_t n = 0; n < a_.samples; ++n) {
      if (a_.e[n] <= kNoGradient) continue;
      for (int64_t row = 0; row < a_.out_h; ++row) {
        const int64_t from = ((n * a_.out_h + row) * a_.out_w) * a_.outputs + first, shift = sub(a_.top, a_.e[n]);
        int16_t* to = gradients() + n * plan_.chunks * kChunk + row * plan_.pitch;
        // A constant count, so that compilers unroll the loops.
        if (count == kOutputsTogether) align_row(kOutputsTogether, from, shift, to);
        else align_row(count, from, shift, to);
      }
    }
  }

  __attribute__((always_inline)) void align_row(int64_t count, int64_t from, int64_t shift, int16_t* to) const {
    for (int64_t column = 0; column < a_.out_w; ++column, ++to, from += a_.outputs) {
      int16_t row[kOutputsTogether];
      aligned_row(a_, from, count, shift, row);
      for (int64_t o = 0; o < count; ++o) to[o * per_output()] = row[o];
    }
  }

  bool inside(int64_t place) const {
    const int64_t row = place / plan_.pitch - a_.pad, column = place % plan_.pitch - a_.pad;
    return row >= 0 && row < a_.height && column >= 0 && column < a_.width;
  }

  void make_valid() {
    for (int64_t i = 0; i < plan_.string_bytes; ++i) valid()[i] = 0;
    for (int64_t place = 0; place < plan_.length; ++place)
      if (a_.padding || inside(place)) valid()[place / 8] |= uint8_t(1 << (place % 8));
  }

  // [channels][samples][string_bytes]: squares of eight places and eight channels are transposed.
  void make_strings(int64_t word, int64_t words) {
    const int64_t channel_bytes = a_.samples * plan_.string_bytes;
    for (int64_t byte = 0; byte < plan_.string_bytes; ++byte) {
      for (int64_t n = 0; n < a_.samples; ++n) {
        const uint64_t* rows[8];
        bool ones[8];
        for (int64_t j = 0; j < 8; ++j) {
          const int64_t place = 8 * byte + j, row = place / plan_.pitch - a_.pad, column = place % plan_.pitch - a_.pad;
          const bool within = place < plan_.length && inside(place);
          rows[j] = within ? a_.x + ((n * a_.height + row) * a_.width + column) * a_.words + word : nullptr;
          ones[j] = a_.padding && place < plan_.length;
        }
        for (int64_t w = 0; w < words; ++w) {
          uint64_t bits[8];
          for (int64_t j = 0; j < 8; ++j) bits[j] = rows[j] ? rows[j][w] : ones[j] ? ~uint64_t(0) : 0;
          uint8_t* to = strings() + w * kWord * channel_bytes + n * plan_.string_bytes + byte;
          for (int64_t k = 0; k < 8; ++k) {
            uint64_t square = 0;
            for (int64_t j = 0; j < 8; ++j) square |= ((bits[j] >> (8 * k)) & 255) << (8 * j);
            square = transpose8(square);
            for (int64_t i = 0; i < 8; ++i, to += channel_bytes) *to = uint8_t(square >> (8 * i));
          }
        }
      }
    }
  }

  // The sum of g where the bits of a string are set, `step` bytes from sample to sample, behind `distance` places.
  int32_t sum_of(const int16_t* g, const uint8_t* string, int64_t step, uint64_t distance) const {
    const uint64_t down = distance % 8;  // of every chunk, since they are whole bytes
    string += distance / 8;
    typename Scan::Total total;
    for (int64_t n = 0; n < a_.samples; ++n, string += step) {
      for (int64_t chunk = 0; chunk < plan_.chunks; ++chunk, g += kChunk) {
        uint64_t bits;
        __builtin_memcpy(&bits, string + chunk * (kChunk / 8), sizeof bits);
        total.add(g, uint32_t(bits >> down));
      }
    }
    return total.sum();
  }

  void output(int64_t o, const int16_t* g, uint32_t reach, int64_t word, int64_t words) {
    const int64_t channel_bytes = a_.samples * plan_.string_bytes, first = word * kWord;
    const int64_t count = min_of(words * kWord, a_.channels - first);
    for (int64_t tap = 0; tap < a_.kernel * a_.kernel; ++tap) {
      const int64_t row = o * a_.kernel * a_.kernel + tap;
      const uint64_t distance = uint64_t(tap / a_.kernel * plan_.pitch + tap % a_.kernel);
      const uint32_t element = uint32_t(row * a_.channels + first);
      bool known = false;
      int32_t counted = 0;
      Scan::find(
          element * kElementFactor + uint32_t(a_.step.key), a_.step.key, reach, count, [&](int64_t at, uint64_t mask) {
            if (!known) counted = sum_of(g, valid(), 0, distance);
            known = true;
            for (; mask; mask &= mask - 1) {
              const int64_t i = at + __builtin_ctzll(mask);
              const uint32_t set = uint32_t(sum_of(g, strings() + i * channel_bytes, plan_.string_bytes, distance));
              const int32_t sum = int32_t(2 * set - uint32_t(counted));  // twice `set` may wrap, the sum fits
              const int64_t change = change_of_sum(sum, random_bits(a_.step.key, element + uint32_t(i)));
              if (change) step_one(a_, row, first + i, change);
            }
          });
    }
  }

  // A gradient that is not 0: its sample's signs, and where its window starts.
  struct Live {
    const uint64_t* x;
    int64_t row, column;
    int16_t g;
  };

  // Sums of all weights of an output from its gradients that are not 0, at most kMaxRows.
  void all_of_few(int64_t o, const int16_t* g) {
    if constexpr (Scan::kMaxMasks > 0) {
      if (plan_.spread && !spread_) Scan::spread(a_.x, a_.samples * a_.height * a_.width * a_.words, masks());
      spread_ = true;
    }
    Live live[kMaxRows];
    int64_t count = 0;
    for (int64_t n = 0; n < a_.samples; ++n, g += plan_.chunks * kChunk)
      for (int64_t row = 0; row < a_.out_h; ++row)
        for (int64_t column = 0; column < a_.out_w; ++column)
          if (g[row * plan_.pitch + column])
            live[count++] = {a_.x + n * a_.height * a_.width * a_.words, row - a_.pad, column - a_.pad,
                             g[row * plan_.pitch + column]};
    for (int64_t tap = 0; tap < a_.kernel * a_.kernel; ++tap) few_of_tap(o, tap, live, count);
  }

  SignedRow signed_row(const uint64_t* x, int16_t g) const {
    return {x, g, plan_.spread ? masks() + (x - a_.x) * kWord : nullptr};
  }

  void few_of_tap(int64_t o, int64_t tap, const Live* live, int64_t count) {
    const int64_t down = tap / a_.kernel, right = tap % a_.kernel;
    SignedRow rows[kMaxRows];
    int64_t inside = 0;
    uint32_t outside = 0;
    for (int64_t k = 0; k < count; ++k) {
      const int64_t row = live[k].row + down, column = live[k].column + right;
      if (row >= 0 && row < a_.height && column >= 0 && column < a_.width)
        rows[inside++] = signed_row(live[k].x + (row * a_.width + column) * a_.words, live[k].g);
      else if (a_.padding) outside += uint32_t(int32_t(live[k].g));
    }
    uint32_t* sums = reinterpret_cast<uint32_t*>(a_.scratch + plan_.sums);
    for (int64_t i = 0; i < a_.words * kWord; ++i) sums[i] = outside;
    for (int64_t first = 0; first < inside;) {
      // As many as 16 bits hold: the sum of g > 0 where the bit is set and of -g > 0 where it is not, below 2^16.
      int64_t last = first;
      uint32_t magnitude = 0, start = 0;
      for (; last < inside; ++last) {
        const uint32_t size = uint32_t(rows[last].g < 0 ? -rows[last].g : rows[last].g);
        if (magnitude + size > 0xFFFF) break;
        magnitude += size;
        start += rows[last].g < 0 ? size : 0;
      }
      for (int64_t word = 0; word < a_.words; ++word) {
        alignas(64) uint16_t agree[kWord];
        Scan::add_signed(rows + first, last - first, word, uint16_t(start), agree);
        for (int64_t i = 0; i < kWord; ++i) sums[word * kWord + i] += 2 * uint32_t(agree[i]) - magnitude;
      }
      first = last;
    }
    Path::step(a_, o * a_.kernel * a_.kernel + tap, sums);
  }

  const LatentUpdateArgs& a_;
  const RarePlan plan_;
  const NarrowStep narrow_;
  const int64_t down_;
  bool spread_ = false;
};

// What both ways need of the scratch, and both in turn.
template <class Scan, class Path>
static inline uint64_t rare_scratch_bytes(const LatentUpdateArgs& a) {
  const int64_t tables = gradients_are_narrow(a) ? LatentPlan<Path>(a).end : 0;
  const int64_t rare = RareSteps<Scan, Path>::fits(a) ? RarePlan(a, tables, Scan::kMaxMasks).end : 0;
  return uint64_t(max_of(tables, rare));
}

template <class Scan, class Path>
static inline void run_rare(const LatentUpdateArgs& a) {
  if (!RareSteps<Scan, Path>::fits(a)) return LatentLoops<Path>(a).run([](int64_t) { return true; });
  Outputs left;
  RareSteps<Scan, Path>(a, LatentPlan<Path>(a).end).run(left);
  LatentLoops<Path>(a).run([&](int64_t o) { return left.has(o); });
}

}  // namespace bitreplay
