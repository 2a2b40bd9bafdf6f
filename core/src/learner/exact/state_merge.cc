// Other states added to a learner's: merging.py. With a base, which all of them began as, what it saw counts once:
//
//     ours + (theirs - base)               merge
//     ours - (theirs - base)               what was merged before is taken out, bit for bit
//
// Sums are changed in the width of the result, modulo 2^32 or 2^64: what is taken out before more comes in does no
// harm.
#include "arithmetic/fixedpoint.h"
#include "learner/exact/state_check.h"
#include "sums/contain.h"

namespace bitreplay {
namespace {

// A state in a file, or the learner's own.
struct State {
  const ExactLearner* own;  // or null
  const ParsedState* parsed;

  const Known& known() const { return own ? own->known : parsed->known; }
  int64_t count(int64_t row) const { return own ? own->sums.counts[row] : parsed->counts[row]; }
  Values class_sums(int64_t row) const {
    return own ? in_memory(InMemory{own->sums}.class_sums(row)) : parsed->class_sums(row);
  }
  Values products() const { return own ? in_memory(InMemory{own->sums}.products()) : parsed->products(); }
  Values digests(uint32_t row) const {
    int64_t first = 0;
    for (uint32_t c = 0; c < row; ++c) first += count(c);
    return own ? in_memory({own->digests.values, 64, first}) : parsed->values(kValues, first);
  }
  static Values in_memory(const Numbers& numbers) { return {Input(nullptr, nullptr, 0), numbers}; }
};

// Whether all of the base's digests of a class are among the state's, as often: both are in order.
int has_digests(const State& state, uint32_t row, const State& base, uint32_t base_row) {
  Values all = state.digests(row), some = base.digests(base_row);
  int64_t left = state.count(row), value, other = 0;
  for (int64_t i = 0; i < base.count(base_row); ++i) {
    if (!some.next(&value)) return BR_STORAGE;
    do {
      if (!left--) return BR_OTHER_BASE;
      if (!all.next(&other)) return BR_STORAGE;
    } while (uint64_t(other) < uint64_t(value));
    if (other != value) return BR_OTHER_BASE;
  }
  return BR_OK;
}

// Whether the state can be the base and more images. min_squares[features] is scratch.
int contains(const ExactLearner& l, const State& state, const State& base, int64_t* min_squares) {
  const int64_t rounded = state.known().forgotten - base.known().forgotten;
  const Names &names = state.known().names, &others = base.known().names;
  const auto row_of = [&](int64_t row) {
    bool there;
    const uint32_t other = others.find(names.at(uint32_t(row)), &there);
    return there ? int64_t(other) : -1;
  };
  uint32_t met = 0;
  for (uint32_t row = 0; row < names.count(); ++row) met += row_of(row) >= 0;
  if (rounded < 0 || met != others.count()) return BR_OTHER_BASE;
  if (const int wrong = contain(state, base, names.count(), l.features, row_of, rounded > 0, min_squares)) return wrong;
  for (uint32_t row = 0; row < names.count() && l.keeps_digests; ++row)
    if (row_of(row) >= 0)
      if (const int wrong = has_digests(state, row, base, uint32_t(row_of(row)))) return wrong;
  return BR_OK;
}

bool change_array(Values in, void* sums, uint32_t own_bits, int64_t first, int64_t count, int sign) {
  for (int64_t at = first; at < first + count; ++at) {
    int64_t value;
    if (!in.next(&value)) return false;
    change_sum(sums, own_bits, at, sign * value);
  }
  return true;
}

// Digests of a class that come in, in order: what lies behind moves away first, so that both can be read from the
// front.
bool add_digests(Digests& own, int64_t first, int64_t count, int64_t all, Values in, int64_t more) {
  uint64_t *to = own.values + first, *from = to + more, *const end = from + count;
  int64_t value;
  memmove(from, to, size_t(all - first) * sizeof *to);
  for (; more; --more) {
    if (!in.next(&value)) return false;
    while (from < end && *from <= uint64_t(value)) *to++ = *from++;
    *to++ = uint64_t(value);
  }
  return true;  // what is left is in its place
}

// Those of the base, which are all among them.
bool take_digests(Digests& own, int64_t first, int64_t count, int64_t all, Values in, int64_t fewer) {
  uint64_t *to = own.values + first, *from = to, *const end = to + count;
  int64_t value;
  for (int64_t left = fewer; left; --left) {
    if (!in.next(&value)) return false;
    while (from < end && *from != uint64_t(value)) *to++ = *from++;
    if (from == end) return false;
    ++from;
  }
  memmove(to, from, size_t(own.values + all - from) * sizeof *to);
  return true;
}

// Adds a checked state to the learner's, or takes it out.
bool change(ExactLearner* l, const ParsedState& parsed, int sign) {
  const int64_t entries = triangle(l->features);
  const uint32_t bits = l->sums.bits;
  int64_t before = 0;  // pictures of the other state's rows so far
  for (uint32_t row = 0; row < parsed.shape.classes; ++row) {
    uint32_t to = 0;
    row_of(l, parsed.known.names.at(row), &to);
    const int64_t count = parsed.counts[row], own = l->sums.counts[to];
    if (l->keeps_digests) {
      const auto change_digests = sign > 0 ? add_digests : take_digests;
      const Values in = parsed.values(kValues, before);
      if (!change_digests(l->digests, first_of(*l, to), own, pictures_of(*l), in, count)) return false;
    }
    before += count;
    l->sums.counts[to] += sign * count;
    if (!change_array(parsed.class_sums(row), l->sums.class_sums, bits, int64_t(to) * l->features, l->features, sign))
      return false;
    if (l->sums.class_products &&
        !change_array(parsed.class_products(row), l->sums.class_products, bits, to * entries, entries, sign))
      return false;
  }
  return change_array(parsed.products(), l->sums.products, bits, 0, entries, sign);
}

uint32_t missing(const ExactLearner& l, const Names& others) {
  uint32_t count = 0;
  for (uint32_t row = 0; row < others.count(); ++row) {
    bool there;
    l.known.names.find(others.at(row), &there);
    count += !there;
  }
  return count;
}

// What both files say, after the work memory was used for something else.
int read_again(const ExactLearner& l, const File& file, const File* base_file, ReadMemory* memory) {
  if (const int wrong = parse_again(l, file, memory, &memory->state)) return wrong;
  return base_file ? parse_again(l, *base_file, memory, &memory->base) : BR_OK;
}

// Both files, checked; the learner and the state contain the base.
int read_both(ExactLearner* l, const File& file, const File* base_file, ReadMemory* memory) {
  if (!file.read || (base_file && !base_file->read)) return BR_BAD_ARGUMENT;
  if (l->learning) return BR_BAD_ORDER;
  if (const int wrong = parse_state(*l, file, memory, &memory->state)) return wrong;
  if (const int wrong = check_factor(l, memory->state)) return wrong;
  if (base_file) {
    if (const int wrong = parse_state(*l, *base_file, memory, &memory->base)) return wrong;
    if (const int wrong = check_factor(l, memory->base)) return wrong;
  }
  if (const int wrong = read_again(*l, file, base_file, memory)) return wrong;
  if (!base_file) return BR_OK;
  const State common = {nullptr, &memory->base};
  if (const int wrong = contains(*l, {l, nullptr}, common, memory->scratch)) return wrong;
  return contains(*l, {nullptr, &memory->state}, common, memory->scratch);
}

// What is counted beside the sums.
void count(ExactLearner* l, const ReadMemory& memory, int sign) {
  const Known &known = memory.state.known, &base = memory.base.known;
  l->known.forgotten += sign * (known.forgotten - base.forgotten);
  l->known.experiences = max_of(l->known.experiences + sign * (known.experiences - base.experiences), 0);
}

// Whether what is left can be the sums of pictures: classes without pictures have nothing left.
// parts/class_statistics.py, `settle`.
bool is_settled(const ExactLearner& l, void* work) {
  return pictures_of(l) ? are_possible(l, work) : l.known.forgotten || has_no_products(l);
}

// The extent of the learner's sums with the file's, without the base's; -1 if they cannot be read.
int64_t merged_extent(const ExactLearner& l, bool has_base, const ReadMemory& memory) {
  const Known &known = memory.state.known, &base = memory.base.known;
  const int64_t pictures = pictures_of(l) + memory.state.pictures - memory.base.pictures;
  if (!(l.known.forgotten + known.forgotten - base.forgotten)) return pictures;
  const State all[3] = {{&l, nullptr}, {nullptr, &memory.state}, {nullptr, &memory.base}};
  Values ours = all[0].products(), theirs = all[1].products();
  Values common = has_base ? all[2].products() : all[0].products();
  int64_t largest = 0;
  for (int64_t i = 0; i < l.features; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      int64_t own, more, less = 0;
      if (!ours.next(&own) || !theirs.next(&more) || (has_base && !common.next(&less))) return -1;
      largest = max_of(largest, absolute(own + more - less));
    }
  return extent_of(pictures, largest);
}

bool can_count(const ExactLearner& l, const ReadMemory& memory) {
  const Known &known = memory.state.known, &base = memory.base.known;
  return l.known.forgotten + known.forgotten - base.forgotten < kMaxCounted &&
         l.known.experiences + known.experiences - base.experiences < kMaxCounted;
}

void leave_out_the_empty(ExactLearner* l) {
  for (uint32_t row = l->sums.classes; row-- > 0;)
    if (!l->sums.counts[row]) erase_row(l, row);
}

}  // namespace

int learner_merge(ExactLearner* l, const File& file, const File* base_file) {
  BumpAllocator allocator(l->use_work());
  ReadMemory memory(*l, allocator);
  const ParsedState &parsed = memory.state, &base = memory.base;
  if (const int wrong = read_both(l, file, base_file, &memory)) return wrong;
  const int64_t pictures = pictures_of(*l) + parsed.pictures - base.pictures;
  const int64_t extent = merged_extent(*l, base_file != nullptr, memory), before = l->known.experiences;
  if (extent < 0) return BR_STORAGE;
  if (!can_count(*l, memory) || !has_room_for(*l, extent, pictures)) return BR_FULL;
  if (!l->known.lineage.can_unite(parsed.known.lineage)) return BR_FULL;
  if (l->sums.classes + missing(*l, parsed.known.names) > l->options.classes) return BR_FULL;
  l->ready = false;
  set_width(l, max_of(extent, extent_of(*l)));
  bool done = (!base_file || change(l, base, -1)) && change(l, parsed, 1);
  count(l, memory, 1);
  // Without a base the sums of states that are possible are.
  const bool right = done && (!base_file || (is_settled(*l, memory.scratch) && have_factor(l)));
  if (done && !right) {  // as it was
    done = read_again(*l, file, base_file, &memory) == BR_OK && change(l, parsed, -1) && change(l, base, 1);
    count(l, memory, -1);
    l->known.experiences = before;
    leave_out_the_empty(l);
  }
  if (!done) clear(l);
  if (!right) return set_width(l, extent_of(*l)), done ? BR_IMPOSSIBLE : BR_STORAGE;
  if (base_file && read_again(*l, file, base_file, &memory)) return clear(l), BR_STORAGE;
  l->known.lineage.unite(parsed.known.lineage);
  leave_out_the_empty(l);
  set_width(l, extent_of(*l));
  return BR_OK;
}

int learner_take_out(ExactLearner* l, const File& file, const File* base_file) {
  BumpAllocator allocator(l->use_work());
  ReadMemory memory(*l, allocator);
  const ParsedState &parsed = memory.state, &base = memory.base;
  if (const int wrong = read_both(l, file, base_file, &memory)) return wrong;
  if (const int wrong = contains(*l, {l, nullptr}, {nullptr, &parsed}, memory.scratch)) return wrong;
  const int64_t before = l->known.experiences;
  l->ready = false;
  bool done = change(l, parsed, -1) && (!base_file || change(l, base, 1));
  count(l, memory, -1);
  const bool right = done && is_settled(*l, memory.scratch) && have_factor(l);
  if (done) done = read_again(*l, file, base_file, &memory) == BR_OK;
  if (done && !right) {  // as it was
    done = (!base_file || change(l, base, -1)) && change(l, parsed, 1);
    count(l, memory, 1);
    l->known.experiences = before;
  }
  if (!done) clear(l);
  if (!done || !right) return done ? BR_NEVER_LEARNED : BR_STORAGE;
  l->past_is_gone = true;
  if (!pictures_of(*l)) return leave_nothing(l), BR_OK;
  l->known.lineage.leave_out(parsed.known.lineage, base.known.lineage);
  leave_out_the_empty(l);
  set_width(l, extent_of(*l));
  return BR_OK;
}

}  // namespace bitreplay
