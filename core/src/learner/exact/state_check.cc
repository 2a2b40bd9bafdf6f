#include "learner/exact/state_check.h"

#include "sums/possible.h"
#include "sums/scatter.h"

namespace bitreplay {
namespace {

// Settings that change no sum.
const char* const kFree[] = {"batch_size",       "epochs",    "latent_bits", "learning_rate",
                             "memory_per_class", "min_steps", "seed",        "replay_batch_size",
                             "replay_layer",     "unknown",   nullptr};
constexpr const char* kNames[] = {"digests.sizes",   "digests.values", "sums.class_products",
                                  "sums.class_sums", "sums.counts",    "sums.products"};

class Reader {
 public:
  Reader(const ExactLearner& l, int64_t* scratch, ParsedState* parsed) : l_(l), scratch_(scratch), parsed_(*parsed) {}

  // Everything but the arrays' content.
  int sections(const StateSource& source) {
    if (const int wrong = check_frame(source.sections, l_.model, kFree, parsed_.settings, l_.options.settings_bytes,
                                      &parsed_.settings_size))
      return wrong;
    ExpectedSections in(source.sections, BR_STATE_HEAD);
    Known& known = parsed_.known;
    const bool right = in.classes([&](const br_name& name, bool is_free) { return add(name, is_free); }) &&
                       in.integer("learned/counters/", "forgotten", kMaxCounted, &known.forgotten) && arrays(in) &&
                       in.skip("model/") && in.integer("notes/", "experiences", kMaxCounted, &known.experiences) &&
                       lineage(in) && in.begins("settings/");
    if (!right) return in.wrong;
    for (uint64_t& offset : parsed_.at) offset = source.locate(offset);
    if (parsed_.shape.digests && !l_.digests.has_room_for(int64_t(parsed_.shape.pictures))) return BR_FULL;
    return parsed_.shape.bits == 64 && !l_.options.wide ? BR_FULL : BR_OK;
  }

  // Counts, sums and products can be those of pictures.
  int arrays() {
    if (!parsed_.shape.classes && parsed_.known.forgotten) return BR_MALFORMED;
    if (const int wrong = counts()) return wrong;
    if (parsed_.shape.has(kValues) && uint64_t(parsed_.pictures) != parsed_.shape.pictures) return BR_MALFORMED;
    if (const int wrong = sums()) return wrong;
    if (const int wrong = parsed_.shape.has(kValues) ? digests() : BR_OK) return wrong;
    if (!parsed_.shape.has(kClassProducts)) return BR_OK;
    return parsed_.known.forgotten ? BR_MALFORMED : class_products();
  }

  int counts() {
    const uint32_t classes = parsed_.known.names.count();
    Values in = parsed_.values(kCounts);
    parsed_.pictures = 0;
    for (uint32_t c = 0; c < classes; ++c) {
      if (!in.next(&parsed_.counts[c])) return BR_STORAGE;
      if (parsed_.counts[c] < 1 || parsed_.counts[c] > kMaxPictures - parsed_.pictures) return BR_MALFORMED;
      parsed_.pictures += parsed_.counts[c];
    }
    return BR_OK;
  }

 private:
  int add(const br_name& name, bool is_free) {
    Names& names = parsed_.known.names;
    if (is_free) return BR_MALFORMED;
    if (names.count() == l_.options.classes || !names.fits(name)) return BR_FULL;
    if (names.count() && compare(names.at(names.count() - 1), name) >= 0) return BR_MALFORMED;
    names.append(name);
    return BR_OK;
  }

  // The sections of arrays. How many pictures there are, and how wide sums are, they say themselves.
  bool arrays(ExpectedSections& in) {
    Shape& shape = parsed_.shape;
    shape = {parsed_.known.names.count(), l_.features, 0, 32, l_.keeps_digests, l_.keeps_class_products};
    for (int array = 0; array < kArrays; ++array) {
      if (!shape.has(array)) continue;
      const br_section& found = in.section();
      if (array == kValues) shape.pictures = found.shape[0];
      if (found.type == BR_SECTION_INT64 && array > kValues && array != kCounts) shape.bits = 64;
      const br_section wanted = shape.section(array);
      br_section section;
      if (!in.take(wanted.name, "", wanted.type, wanted.rank, &section)) return false;
      if (memcmp(section.shape, wanted.shape, sizeof wanted.shape)) return in.refuse(BR_MALFORMED);
      parsed_.at[array] = section.offset;
      parsed_.bytes[array] = section.size;
    }
    return true;
  }

  bool lineage(ExpectedSections& in) {
    br_section merged, since;
    if (!in.take("notes/", "lineage.merged", BR_SECTION_UINT64, 1, &merged)) return false;
    if (!in.take("notes/", "lineage.since", BR_SECTION_UINT64, 1, &since)) return false;
    Lineage& lineage = parsed_.known.lineage;
    uint64_t* const marks = lineage.reserve(merged.shape[0], since.shape[0]);
    if (!marks) return in.refuse(BR_FULL);
    if (!in.load(merged, marks) || !in.load(since, marks + merged.shape[0])) return false;
    return lineage.is_valid() || in.refuse(BR_MALFORMED);
  }

  // sums/possible.h, feature by feature.
  int sums() {
    const bool forgot = parsed_.known.forgotten > 0;
    int64_t largest;
    const int wrong =
        check_sums(parsed_, parsed_.shape.classes, l_.features, parsed_.pictures, forgot, scratch_, &largest);
    if (wrong) return wrong;
    const int64_t extent = forgot ? extent_of(parsed_.pictures, largest) : parsed_.pictures;
    return br_sums_bits(extent) == parsed_.shape.bits ? BR_OK : BR_MALFORMED;
  }

  // br_sums_possible, of a file: each class's are possible, and they add up to those of all.
  int class_products() {
    const int64_t entries = triangle(l_.features);
    int64_t *const totals = scratch_ + l_.features, product, largest;
    memset(totals, 0, size_t(entries) * sizeof *totals);
    Values sums = parsed_.class_sums(0), products = parsed_.products();
    for (uint32_t c = 0; c < parsed_.shape.classes; ++c) {
      memset(scratch_, 0, l_.features * sizeof *scratch_);
      if (const int wrong = add_min_squares(sums, parsed_.counts[c], l_.features, scratch_)) return wrong;
      if (const int wrong = check_products(parsed_.class_products(c), l_.features, parsed_.counts[c], false, scratch_,
                                           &largest, totals))
        return wrong;
    }
    for (int64_t at = 0; at < entries; ++at) {
      if (!products.next(&product)) return BR_STORAGE;
      if (product != totals[at]) return BR_IMPOSSIBLE;
    }
    return BR_OK;
  }

  // As many as there are pictures, in order within a class.
  int digests() {
    Values sizes = parsed_.values(kSizes), values = parsed_.values(kValues);
    for (uint32_t c = 0; c < parsed_.shape.classes; ++c) {
      int64_t size, last = 0, value;
      if (!sizes.next(&size)) return BR_STORAGE;
      if (size != parsed_.counts[c]) return BR_MALFORMED;
      for (int64_t i = 0; i < size; ++i, last = value) {
        if (!values.next(&value)) return BR_STORAGE;
        if (uint64_t(value) < uint64_t(last)) return BR_MALFORMED;
      }
    }
    return BR_OK;
  }

  const ExactLearner& l_;
  int64_t* scratch_;
  ParsedState& parsed_;
};

void place(const ExactLearner& l, BumpAllocator& allocator, ParsedState* parsed) {
  const br_learner_options& o = l.options;
  parsed->known.names = Names(allocator.next<uint8_t>(o.classes * Names::row_bytes(o.name_bytes)), o.name_bytes);
  parsed->known.lineage = Lineage(allocator.next<uint64_t>(o.marks), o.marks);
  parsed->settings = allocator.next<char>(o.settings_bytes);
  parsed->counts = allocator.next<int64_t>(o.classes);
}

int parse(const ExactLearner& l, const File& file, ReadMemory* memory, ParsedState* parsed) {
  parsed->file = file;
  parsed->known.names.clear();
  parsed->known.lineage.clear();
  parsed->settings_size = 0;
  StateSource source;
  const int wrong = source.open(file, l.model, &memory->old);
  return wrong ? wrong : Reader(l, nullptr, parsed).sections(source);
}

}  // namespace

bool Shape::has(int array) const {
  if (array == kSizes || array == kValues) return digests && classes;
  return array != kClassProducts || class_products;
}

br_section Shape::section(int array) const {
  const uint64_t entries = uint64_t(triangle(int64_t(features)));
  const uint32_t sums = bits == 64 ? BR_SECTION_INT64 : BR_SECTION_INT32;
  const auto named = [&](uint32_t type, uint32_t rank, uint64_t first, uint64_t second) {
    return section_of("learned/parts/", kNames[array], type, rank, first, second);
  };
  switch (array) {
    case kValues: return named(BR_SECTION_UINT64, 1, pictures, 1);
    case kClassProducts: return named(sums, 2, classes, entries);
    case kClassSums: return named(sums, 2, classes, features);
    case kProducts: return named(sums, 1, entries, 1);
    default: return named(BR_SECTION_INT64, 1, classes, 1);
  }
}

Shape shape_of(const ExactLearner& l) {
  return {l.sums.classes, l.features, uint64_t(pictures_of(l)), l.sums.bits, l.keeps_digests, l.keeps_class_products};
}

ReadMemory::ReadMemory(const ExactLearner& l, BumpAllocator& allocator) : state(), base() {
  place(l, allocator, &state);
  place(l, allocator, &base);
  const size_t names = size_t(l.options.classes) * (l.options.name_bytes + 9);
  old = OldState(allocator, kArrays, names + 8 * size_t(l.options.marks) + l.options.settings_bytes);
  scratch = allocator.next<int64_t>((l.keeps_class_products ? size_t(triangle(l.features)) : 0) + l.features);
}

size_t read_memory_bytes(const ExactLearner& l) {
  BumpAllocator allocator(nullptr);
  ReadMemory(l, allocator);
  return allocator.used();
}

int parse_state(const ExactLearner& l, const File& file, ReadMemory* memory, ParsedState* parsed) {
  const int wrong = parse(l, file, memory, parsed);
  return wrong ? wrong : Reader(l, memory->scratch, parsed).arrays();
}

int parse_again(const ExactLearner& l, const File& file, ReadMemory* memory, ParsedState* parsed) {
  const int wrong = parse(l, file, memory, parsed);
  return wrong ? wrong : Reader(l, nullptr, parsed).counts();
}

int check_factor(ExactLearner* l, const ParsedState& parsed) {
  // Of what a forgotten class left nothing is known: sums/possible.h.
  if (parsed.known.forgotten || !parsed.pictures) return BR_OK;
  const Kernels* const kernels = chosen_kernels();
  if (!kernels) return BR_UNKNOWN_ISA;
  const int64_t classes = int64_t(parsed.shape.classes), pictures = parsed.pictures;
  const Solving s = solving_in(l->use_work(), *kernels, l->features, classes, pictures, pictures);
  const int wrong = scatter(s, parsed.products(), parsed.values(kCounts), parsed.class_sums(0), classes);
  return wrong ? wrong : has_factor(s) ? BR_OK : BR_IMPOSSIBLE;
}

}  // namespace bitreplay
