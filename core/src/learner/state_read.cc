// A state from bytes. They are read three times: the checksum, everything that can be wrong, and then the numbers.
#include "learner/in.h"
#include "learner/json_in.h"
#include "learner/settings.h"
#include "learner/state_file.h"
#include "sums/check.h"

namespace bitreplay {
namespace {

constexpr int64_t kMostCounted = int64_t(1) << 62;

// What a file says, in the work memory until it is believed.
struct Found {
  Known known;
  char* settings;
  size_t settings_size;
  int64_t* counts;
  uint32_t bits;
  uint64_t arrays_at;
  int64_t pictures;
};

void place(const br_learner& l, Places& places, Found* found) {
  const br_learner_options& o = l.options;
  found->known.names = Names(places.next<uint8_t>(o.classes * Names::row_bytes(o.name_bytes)), o.name_bytes);
  found->known.lineage = Lineage(places.next<uint64_t>(o.marks), o.marks);
  found->settings = places.next<char>(o.texts);
  found->counts = places.next<int64_t>(o.classes);
}

class Reader {
 public:
  Reader(const br_learner& l, br_read* read, void* context, size_t size, Found* found)
      : l_(l), read_(read), context_(context), size_(size), in_(read, context, size), json_{in_}, expected_{in_}, found_(*found) {}

  int header() {
    if (const int wrong = texts()) return in_.failed() ? BR_STORAGE : wrong;
    return BR_OK;
  }

  // Counts, sums and products can be those of pictures.
  int arrays() {
    const Layout at(found_.known.names.count(), l_.numbers, found_.bits);
    const int wrong = counts(at);
    return wrong ? wrong : sums(at);
  }

 private:
  bool expect(const char* text) {
    expected_.out().text(text);
    return expected_.met;
  }
  bool expect_quoted(const char* text, size_t size) {
    const Out out = expected_.out();
    Quoted quoted = {out};
    quoted.out().bytes(text, size);
    return expected_.met;
  }
  bool expect_quoted(const char* text) { return expect_quoted(text, strlen(text)); }

  int texts() {
    uint64_t length;
    if (!in_.bytes(&length, 8) || length > size_ - 8 || length % 8) return BR_MALFORMED;
    if (!expect(kBegin)) return BR_MALFORMED;
    for (size_t i = 0; i < kDigits; ++i) in_.next();
    if (!expect("\",\"format\":\"bitreplay-state\",\"learned\":\"")) return BR_MALFORMED;
    if (const int wrong = learned()) return wrong;
    if (!expect("\",\"model\":\"")) return BR_MALFORMED;
    if (const int wrong = model()) return wrong;
    if (!expect("\",\"settings\":\"")) return BR_MALFORMED;
    if (const int wrong = settings()) return wrong;
    if (!expect("\",\"version\":\"2\"},\"sums.c")) return BR_MALFORMED;
    // The first array's name tells the width of the sums.
    found_.bits = in_.look() == 'l' ? 64 : 32;
    Rest rest = {expected_.out(), 7};
    put_descriptions(rest.out(), found_.known.names.count(), l_.numbers, found_.bits);
    while (expected_.met && in_.at() < 8 + length) expected_.met = in_.next() == ' ';
    found_.arrays_at = 8 + length;
    const Layout layout(found_.known.names.count(), l_.numbers, found_.bits);
    if (!expected_.met || in_.at() != 8 + length || size_ != 8 + length + layout.end) return BR_MALFORMED;
    return found_.bits == 64 && !l_.options.wide ? BR_FULL : BR_OK;
  }

  // All but the first `left_out` bytes of what is written to it.
  struct Rest {
    Out inner;
    size_t left_out;
    Out out() {
      return {this, [](void* to, const void* bytes, size_t size) {
                Rest& self = *static_cast<Rest*>(to);
                const size_t skipped = size < self.left_out ? size : self.left_out;
                self.left_out -= skipped;
                self.inner.bytes(static_cast<const uint8_t*>(bytes) + skipped, size - skipped);
              }};
    }
  };

  int learned() {
    if (!expect_quoted("{\"experiences\":")) return BR_MALFORMED;
    if (!json_.number(&found_.known.experiences, kMostCounted - 1) || found_.known.experiences < 0) return BR_MALFORMED;
    if (!expect_quoted(",\"forgotten\":")) return BR_MALFORMED;
    if (!json_.number(&found_.known.forgotten, kMostCounted - 1) || found_.known.forgotten < 0) return BR_MALFORMED;
    if (!expect_quoted(",\"lineage\":\"")) return BR_MALFORMED;
    if (const int wrong = marks('/')) return wrong;
    if (const int wrong = marks('"')) return wrong;
    if (!expect_quoted(",\"names\":[")) return BR_MALFORMED;
    if (const int wrong = names()) return wrong;
    if (!expect_quoted(",\"parts\":") || !expect_quoted(l_.model.parts.bytes, l_.model.parts.size)) return BR_MALFORMED;
    return expect_quoted(",\"same\":{}}") ? BR_OK : BR_MALFORMED;
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
      if (!(end == '/' ? found_.known.lineage.add_merged(mark) : found_.known.lineage.add_own(mark))) return BR_FULL;
    }
  }

  int names() {
    Names& names = found_.known.names;
    if (in_.look() == ']') return in_.next(), BR_OK;
    for (;;) {
      char text[kMostNameBytes];
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

  // The model's checksum comes first in its text, and decides.
  int model() {
    constexpr size_t known = 11 + 64;  // {"digest":"
    for (size_t i = 0;; ++i) {
      const int c = in_.next_quoted();
      if (c == In::kNone) return i > known ? BR_OK : BR_MALFORMED;
      if (i < known && (i >= l_.model.model.size || c != uint8_t(l_.model.model.bytes[i]))) return BR_OTHER_MODEL;
    }
  }

  int settings() {
    for (;;) {
      const int c = in_.next_quoted();
      if (c == In::kNone) break;
      if (c < 32 || c > 126) return BR_MALFORMED;
      if (found_.settings_size == l_.options.texts) return BR_FULL;
      found_.settings[found_.settings_size++] = char(c);
    }
    return same_settings(l_.model.settings, {found_.settings, found_.settings_size}) ? BR_OK : BR_OTHER_SETTINGS;
  }

  In array(uint64_t offset) const { return In(read_, context_, size_, size_t(found_.arrays_at + offset)); }

  int counts(const Layout& at) {
    const uint32_t classes = found_.known.names.count();
    In in = array(at.counts);
    if (!in.bytes(found_.counts, 8 * size_t(classes))) return BR_STORAGE;
    found_.pictures = 0;
    for (uint32_t c = 0; c < classes; ++c) {
      if (found_.counts[c] < 1 || found_.counts[c] > kMostPictures - found_.pictures) return BR_MALFORMED;
      found_.pictures += found_.counts[c];
    }
    if (!classes && found_.known.forgotten) return BR_MALFORMED;
    return br_sums_bits(found_.pictures) == found_.bits ? BR_OK : BR_MALFORMED;
  }

  int sums(const Layout& at) {
    In rows = array(at.class_sums), products = array(at.products);
    for (uint32_t c = 0; c < found_.known.names.count(); ++c)
      for (uint32_t i = 0; i < l_.numbers; ++i) {
        int64_t sum;
        if (!element(rows, found_.bits, &sum)) return BR_STORAGE;
        const int64_t most = kLargestNumber * found_.counts[c];
        if (sum > most || sum < -most) return BR_MALFORMED;
      }
    const int64_t most = kLargestNumber * kLargestNumber * found_.pictures;
    for (int64_t i = 0; i < l_.numbers; ++i)
      for (int64_t j = 0; j <= i; ++j) {
        int64_t product;
        if (!element(products, found_.bits, &product)) return BR_STORAGE;
        if (product > most || product < (i == j ? 0 : -most)) return BR_MALFORMED;
      }
    return BR_OK;
  }

 public:
  static bool element(In& in, uint32_t bits, int64_t* value) {
    if (bits == 64) return in.bytes(value, 8);
    int32_t narrow;
    const bool read = in.bytes(&narrow, 4);
    *value = narrow;
    return read;
  }

 private:
  const br_learner& l_;
  br_read* read_;
  void* context_;
  size_t size_;
  In in_;
  JsonIn json_;
  Expected expected_;
  Found& found_;
};

int find(br_learner* l, br_read* read, void* context, size_t size, Found* found) {
  if (!l || !read) return BR_BAD_ARGUMENT;
  if (l->learning) return BR_BAD_ORDER;
  if (const int wrong = check_bytes(read, context, size)) return wrong;
  *found = {};
  Places places(l->use_work());
  place(*l, places, found);
  Reader reader(*l, read, context, size, found);
  const int wrong = reader.header();
  return wrong ? wrong : reader.arrays();
}

// The numbers of an array, straight into their place.
bool load(br_read* read, void* context, uint64_t offset, void* to, size_t size) {
  return !size || read(context, size_t(offset), to, size) == 0;
}

bool add_array(In in, uint32_t bits, br_learner* l, void* sums, int64_t first, int64_t count) {
  for (int64_t at = first; at < first + count; ++at) {
    int64_t value;
    if (!Reader::element(in, bits, &value)) return false;
    change_sum(sums, l->sums.bits, at, value);
  }
  return true;
}

int missing(const br_learner& l, const Names& others) {
  int count = 0;
  for (uint32_t row = 0; row < others.count(); ++row) {
    bool there;
    l.known.names.find(others.at(row), &there);
    count += !there;
  }
  return count;
}

}  // namespace

size_t reading_bytes(const br_learner& l) {
  Places places(nullptr);
  Found found = {};
  place(l, places, &found);
  return places.used();
}

int check_bytes(br_read* read, void* context, size_t size) {
  if (size < kDigitsAt + kDigits) return BR_DAMAGED;
  In in(read, context, size);
  Sha256 digest;
  char digits[kDigits], found[kDigits], zeros[kDigits];
  memset(zeros, '0', sizeof zeros);
  uint8_t piece[256];
  for (size_t at = 0; at < size;) {
    const size_t end = at < kDigitsAt ? kDigitsAt : at == kDigitsAt ? at + kDigits : size;
    const size_t some = end - at < sizeof piece ? end - at : sizeof piece;
    if (!in.bytes(piece, some)) return BR_STORAGE;
    if (at == kDigitsAt) memcpy(digits, piece, kDigits);
    digest.update(at == kDigitsAt ? static_cast<const void*>(zeros) : piece, some);
    at += some;
  }
  digest.finish_hex(found);
  return memcmp(found, digits, kDigits) ? BR_DAMAGED : BR_OK;
}

}  // namespace bitreplay

using namespace bitreplay;

int br_state_read(br_learner* l, br_read* read, void* context, size_t size) {
  Found found;
  if (const int wrong = find(l, read, context, size, &found)) return wrong;
  const uint32_t classes = found.known.names.count();
  const Layout at(classes, l->numbers, found.bits);
  const size_t width = found.bits / 8;
  clear(l);
  const bool loaded =
      load(read, context, found.arrays_at + at.class_sums, l->sums.class_sums, width * classes * l->numbers) &&
      load(read, context, found.arrays_at + at.products, l->sums.products, width * size_t(triangle(l->numbers)));
  if (!loaded) {
    clear(l);
    return BR_STORAGE;
  }
  memcpy(l->sums.counts, found.counts, classes * sizeof *found.counts);
  memcpy(l->settings, found.settings, found.settings_size);
  l->settings_size = found.settings_size;
  l->sums.classes = classes;
  l->sums.bits = found.bits;
  l->known.names.copy(found.known.names);
  l->known.lineage.copy(found.known.lineage);
  l->known.forgotten = found.known.forgotten;
  l->known.experiences = found.known.experiences;
  l->past_is_gone = false;
  return BR_OK;
}

int br_state_merge(br_learner* l, br_read* read, void* context, size_t size) {
  Found found;
  if (const int wrong = find(l, read, context, size, &found)) return wrong;
  const Names& others = found.known.names;
  const int64_t pictures = pictures_of(*l) + found.pictures;
  if (!has_room_for(*l, pictures) || !l->known.lineage.can_unite(found.known.lineage)) return BR_FULL;
  if (l->sums.classes + uint32_t(missing(*l, others)) > l->options.classes) return BR_FULL;
  l->ready = false;
  set_width(l, pictures);
  const Layout at(others.count(), l->numbers, found.bits);
  bool added = true;
  for (uint32_t row = 0; row < others.count() && added; ++row) {
    uint32_t to = 0;
    row_of(l, others.at(row), &to);
    l->sums.counts[to] += found.counts[row];
    const uint64_t offset = found.arrays_at + at.class_sums + uint64_t(found.bits / 8) * row * l->numbers;
    added = add_array(In(read, context, size, size_t(offset)), found.bits, l, l->sums.class_sums,
                      int64_t(to) * l->numbers, l->numbers);
  }
  added = added && add_array(In(read, context, size, size_t(found.arrays_at + at.products)), found.bits, l,
                             l->sums.products, 0, triangle(l->numbers));
  if (!added) {
    clear(l);
    return BR_STORAGE;
  }
  l->known.lineage.unite(found.known.lineage);
  l->known.forgotten += found.known.forgotten;
  l->known.experiences += found.known.experiences;
  return BR_OK;
}
