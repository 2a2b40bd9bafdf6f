#include "learner/exact/state_check.h"

#include "learner/state/header_input.h"
#include "learner/state/json_input.h"
#include "learner/state/settings.h"
#include "sums/possible.h"

namespace bitreplay {
namespace {

class Reader {
 public:
  Reader(const br_learner& l, const File& file, int64_t* scratch, ParsedState* parsed)
      : l_(l), file_(file), scratch_(scratch), in_(file.in(0)), json_{in_}, expected_{in_}, parsed_(*parsed) {}

  int header() {
    if (const int wrong = settings_bytes()) return in_.failed() ? BR_STORAGE : wrong;
    return BR_OK;
  }

  // Of a file that was found right before.
  int counts() { return counts(Layout(parsed_.shape).at[Layout::kCounts]); }

  // Counts, sums and products can be those of pictures.
  int arrays() {
    const Layout layout(parsed_.shape);
    if (!parsed_.shape.classes && parsed_.known.forgotten) return BR_MALFORMED;
    if (const int wrong = counts(layout.at[Layout::kCounts])) return wrong;
    if (uint64_t(parsed_.pictures) != parsed_.shape.pictures && parsed_.shape.digests) return BR_MALFORMED;
    if (const int wrong = sums(layout)) return wrong;
    if (const int wrong = layout.there[Layout::kValues] ? digests(layout) : BR_OK) return wrong;
    return layout.there[Layout::kClassProducts] ? class_products(layout) : BR_OK;
  }

 private:
  bool expect(const char* text) {
    expected_.out().text(text);
    return expected_.met;
  }
  bool expect_quoted(const char* text, size_t size) {
    const Output out = expected_.out();
    Quoted quoted = {out};
    quoted.out().bytes(text, size);
    return expected_.met;
  }
  bool expect_quoted(const char* text) { return expect_quoted(text, strlen(text)); }

  int settings_bytes() {
    uint64_t length;
    if (!in_.bytes(&length, 8) || length > file_.size - 8 || length % 8) return BR_MALFORMED;
    if (!expect(kBegin)) return BR_MALFORMED;
    for (size_t i = 0; i < kDigits; ++i) in_.next();
    if (!expect("\",\"format\":\"bitreplay-state\",\"learned\":\"")) return BR_MALFORMED;
    if (const int wrong = learned()) return wrong;
    if (!expect("\",\"model\":\"")) return BR_MALFORMED;
    if (const int wrong = model_text(in_, l_.model.model)) return wrong;
    if (!expect("\",\"settings\":\"")) return BR_MALFORMED;
    if (const int wrong = settings()) return wrong;
    parsed_.arrays_at = 8 + length;
    parsed_.shape = {parsed_.known.names.count(), l_.features, 0, 32, l_.keeps_digests, l_.keeps_class_products};
    if (!expect("\",\"version\":\"2\"},")) return BR_MALFORMED;
    if (parsed_.shape.digests && parsed_.shape.classes) {
      // Their sizes lie first, and are the counts.
      if (8 * parsed_.shape.classes > file_.size - parsed_.arrays_at) return BR_MALFORMED;
      if (const int wrong = counts(0)) return wrong;
      parsed_.shape.pictures = uint64_t(parsed_.pictures);
      if (!l_.digests.has_room_for(parsed_.pictures)) return BR_FULL;
    }
    // The size tells the width of the sums.
    if (file_.size != parsed_.arrays_at + Layout(parsed_.shape).end) parsed_.shape.bits = 64;
    if (file_.size != parsed_.arrays_at + Layout(parsed_.shape).end) return BR_MALFORMED;
    put_descriptions(expected_.out(), parsed_.shape);
    while (expected_.met && in_.at() < parsed_.arrays_at) expected_.met = in_.next() == ' ';
    if (!expected_.met || in_.at() != parsed_.arrays_at) return BR_MALFORMED;
    return parsed_.shape.bits == 64 && !l_.options.wide ? BR_FULL : BR_OK;
  }

  int learned() {
    if (!expect_quoted("{\"experiences\":")) return BR_MALFORMED;
    if (!json_.number(&parsed_.known.experiences, kMaxCounted - 1) || parsed_.known.experiences < 0)
      return BR_MALFORMED;
    if (!expect_quoted(",\"forgotten\":")) return BR_MALFORMED;
    if (!json_.number(&parsed_.known.forgotten, kMaxCounted - 1) || parsed_.known.forgotten < 0) return BR_MALFORMED;
    if (!expect_quoted(",\"lineage\":\"")) return BR_MALFORMED;
    if (const int wrong = marks('/')) return wrong;
    if (const int wrong = marks('"')) return wrong;
    if (!expect_quoted(",\"names\":[")) return BR_MALFORMED;
    if (const int wrong = names()) return wrong;
    if (!expect_quoted(",\"parts\":") || !expect_quoted(l_.model.parts.bytes, l_.model.parts.size)) return BR_MALFORMED;
    if (!expect_quoted(",\"same\":")) return BR_MALFORMED;
    const Output out = expected_.out();
    Quoted quoted = {out};
    put_same(quoted.out(), parsed_.known.names.count(), l_.keeps_digests);
    return expected_.met && expect_quoted("}") ? BR_OK : BR_MALFORMED;
  }

  int marks(int end) {
    for (;;) {
      int c = in_.next_quoted();
      if (c == end) return BR_OK;
      uint64_t mark = 0;
      for (int i = 0; i < 16; ++i, c = i < 16 ? in_.next_quoted() : c) {
        if (hex_digit(c) < 0) return BR_MALFORMED;
        mark = mark << 4 | uint64_t(hex_digit(c));
      }
      if (!(end == '/' ? parsed_.known.lineage.add_merged(mark) : parsed_.known.lineage.add_own(mark))) return BR_FULL;
    }
  }

  int names() {
    Names& names = parsed_.known.names;
    if (in_.look() == ']') return in_.next(), BR_OK;
    for (;;) {
      char text[kMaxNameBytes];
      br_name name = {nullptr, 0, 0};
      if (in_.look() == '\\') {
        if (!json_.name(text, &name)) return BR_MALFORMED;
      } else if (!json_.number(&name.number, (int64_t(1) << 53) - 1)) {
        return BR_MALFORMED;
      }
      if (!is_name(&name)) return BR_MALFORMED;
      if (names.count() == l_.options.classes || !names.fits(name)) return BR_FULL;
      if (names.count() && compare(names.at(names.count() - 1), name) >= 0) return BR_MALFORMED;
      names.append(name);
      const int c = in_.next();
      if (c == ']') return BR_OK;
      if (c != ',') return BR_MALFORMED;
    }
  }

  int settings() {
    if (const int wrong = settings_text(in_, parsed_.settings, &parsed_.settings_size, l_.options.settings_bytes))
      return wrong;
    return same_settings(l_.model.settings, {parsed_.settings, parsed_.settings_size}) ? BR_OK : BR_OTHER_SETTINGS;
  }

  Input array(uint64_t offset) const { return file_.in(parsed_.arrays_at + offset); }

  int counts(uint64_t offset) {
    const uint32_t classes = parsed_.known.names.count();
    Input in = array(offset);
    if (!in.bytes(parsed_.counts, 8 * size_t(classes))) return BR_STORAGE;
    parsed_.pictures = 0;
    for (uint32_t c = 0; c < classes; ++c) {
      if (parsed_.counts[c] < 1 || parsed_.counts[c] > kMaxPictures - parsed_.pictures) return BR_MALFORMED;
      parsed_.pictures += parsed_.counts[c];
    }
    return BR_OK;
  }

  // sums/possible.h, feature by feature. The products are read twice: for the squares, and for pairs of features.
  int sums(const Layout& layout) {
    int64_t* const min_squares = scratch_;
    memset(min_squares, 0, l_.features * sizeof *min_squares);
    Input rows = array(layout.at[Layout::kClassSums]);
    for (uint32_t c = 0; c < parsed_.shape.classes; ++c)
      for (uint32_t i = 0; i < l_.features; ++i) {
        int64_t sum;
        if (!element(rows, parsed_.shape.bits, &sum)) return BR_STORAGE;
        if (!is_within(sum, kLargestNumber * parsed_.counts[c])) return BR_IMPOSSIBLE;
        min_squares[i] += min_square(sum, parsed_.counts[c]);
      }
    const bool forgot = parsed_.known.forgotten > 0;
    int64_t largest = 0, total = 0;
    if (const int wrong =
            squares(layout.at[Layout::kProducts], parsed_.pictures, forgot, min_squares, &largest, &total))
      return wrong;
    const int64_t extent = forgot ? extent_of(parsed_.pictures, largest) : parsed_.pictures;
    if (br_sums_bits(extent) != parsed_.shape.bits) return BR_MALFORMED;
    if (largest > bound_of(parsed_.pictures, total, forgot)) return BR_IMPOSSIBLE;
    return pairs(layout.at[Layout::kProducts], forgot, min_squares, nullptr);
  }

  // Squares of so many pictures, at least so large; their roots take the place of that.
  int squares(uint64_t offset, int64_t pictures, bool forgot, int64_t* min_squares, int64_t* largest, int64_t* total) {
    Input in = array(offset);
    for (int64_t i = 0; i < l_.features; ++i)
      for (int64_t j = 0; j <= i; ++j) {
        int64_t product;
        if (!element(in, parsed_.shape.bits, &product)) return BR_STORAGE;
        if (!is_within(product, kLargestSquare * (forgot ? kMaxPictures : pictures))) return BR_IMPOSSIBLE;
        *largest = max_of(*largest, absolute(product));
        if (i != j) continue;
        *total += product;
        if (!is_square(product, min_squares[i], pictures, forgot)) return BR_IMPOSSIBLE;
        min_squares[i] = root_above(product);
      }
    return BR_OK;
  }

  // Pairs of features, by the roots of their squares; added to `totals` unless it is null.
  int pairs(uint64_t offset, bool forgot, const int64_t* roots, int64_t* totals) {
    Input in = array(offset);
    for (int64_t i = 0, at = 0; i < l_.features; ++i)
      for (int64_t j = 0; j <= i; ++j, ++at) {
        int64_t product;
        if (!element(in, parsed_.shape.bits, &product)) return BR_STORAGE;
        if (!forgot && !is_product(product, uint32_t(roots[i]), uint32_t(roots[j]))) return BR_IMPOSSIBLE;
        if (totals) totals[at] += product;
      }
    return BR_OK;
  }

  // As many as there are pictures, in order within a class.
  int digests(const Layout& layout) {
    Input sizes = array(layout.at[Layout::kSizes]), values = array(layout.at[Layout::kValues]);
    for (uint32_t c = 0; c < parsed_.shape.classes; ++c) {
      int64_t size;
      uint64_t last = 0, value;
      if (!sizes.bytes(&size, 8)) return BR_STORAGE;
      if (size != parsed_.counts[c]) return BR_MALFORMED;
      for (int64_t i = 0; i < size; ++i, last = value) {
        if (!values.bytes(&value, 8)) return BR_STORAGE;
        if (value < last) return BR_MALFORMED;
      }
    }
    return BR_OK;
  }

  // Each is possible, and they add up to the products of all.
  int class_products(const Layout& layout) {
    if (parsed_.known.forgotten) return BR_MALFORMED;
    const int64_t entries = triangle(l_.features);
    int64_t *const totals = scratch_, *const min_squares = scratch_ + entries;
    memset(totals, 0, size_t(entries) * sizeof *totals);
    Input sums = array(layout.at[Layout::kClassSums]), products = array(layout.at[Layout::kProducts]);
    for (uint32_t c = 0; c < parsed_.shape.classes; ++c) {
      const int64_t count = parsed_.counts[c];
      int64_t largest = 0, total = 0;
      for (uint32_t i = 0; i < l_.features; ++i) {
        int64_t sum;
        if (!element(sums, parsed_.shape.bits, &sum)) return BR_STORAGE;
        min_squares[i] = min_square(sum, count);
      }
      const uint64_t own = layout.at[Layout::kClassProducts] + parsed_.shape.bits / 8 * uint64_t(c) * uint64_t(entries);
      if (const int wrong = squares(own, count, false, min_squares, &largest, &total)) return wrong;
      if (const int wrong = pairs(own, false, min_squares, totals)) return wrong;
    }
    for (int64_t at = 0; at < entries; ++at) {
      int64_t product;
      if (!element(products, parsed_.shape.bits, &product)) return BR_STORAGE;
      if (product != totals[at]) return BR_MALFORMED;
    }
    return BR_OK;
  }

  const br_learner& l_;
  const File& file_;
  int64_t* scratch_;
  Input in_;
  JsonInput json_;
  Expected expected_;
  ParsedState& parsed_;
};

void place(const br_learner& l, BumpAllocator& allocator, ParsedState* parsed) {
  const br_learner_options& o = l.options;
  parsed->known.names = Names(allocator.next<uint8_t>(o.classes * Names::row_bytes(o.name_bytes)), o.name_bytes);
  parsed->known.lineage = Lineage(allocator.next<uint64_t>(o.marks), o.marks);
  parsed->settings = allocator.next<char>(o.settings_bytes);
  parsed->counts = allocator.next<int64_t>(o.classes);
}

}  // namespace

ReadMemory::ReadMemory(const br_learner& l, BumpAllocator& allocator) : state(), base() {
  place(l, allocator, &state);
  place(l, allocator, &base);
  scratch = allocator.next<int64_t>((l.keeps_class_products ? size_t(triangle(l.features)) : 0) + l.features);
}

size_t read_memory_bytes(const br_learner& l) {
  BumpAllocator allocator(nullptr);
  ReadMemory(l, allocator);
  return allocator.used();
}

int parse_state(const br_learner& l, const File& file, int64_t* scratch, ParsedState* parsed) {
  if (const int wrong = check_checksum(file.read, file.context, file.size)) return wrong;
  Reader reader(l, file, scratch, parsed);
  const int wrong = reader.header();
  return wrong ? wrong : reader.arrays();
}

int parse_again(const br_learner& l, const File& file, ParsedState* parsed) {
  parsed->known.names.clear();
  parsed->known.lineage.clear();
  parsed->settings_size = 0;
  Reader reader(l, file, nullptr, parsed);
  const int wrong = reader.header();
  return wrong ? wrong : reader.counts();
}

}  // namespace bitreplay
