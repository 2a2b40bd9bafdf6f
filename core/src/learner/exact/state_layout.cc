#include "learner/exact/state_layout.h"

#include "learner/exact/learner.h"
#include "sums/check.h"

namespace bitreplay {

Shape shape_of(const br_learner& l) {
  return {l.sums.classes, l.features, uint64_t(pictures_of(l)), l.sums.bits, l.keeps_digests, l.keeps_class_products};
}

const char* name_of(Layout::Array array) {
  static const char* const names[] = {"digests.sizes",   "digests.values", "sums.class_products",
                                      "sums.class_sums", "sums.counts",    "sums.products"};
  return names[array];
}

void extent_of(const Shape& shape, Layout::Array array, uint64_t* rows, uint64_t* columns) {
  const uint64_t entries = uint64_t(triangle(int64_t(shape.features)));
  *rows = array == Layout::kValues ? shape.pictures : array == Layout::kProducts ? entries : shape.classes;
  *columns = array == Layout::kClassProducts ? entries : array == Layout::kClassSums ? shape.features : 0;
}

Layout::Layout(const Shape& shape) {
  const bool digests = shape.digests && shape.classes;
  for (bool& each : there) each = true;
  there[kSizes] = there[kValues] = digests;
  there[kClassProducts] = shape.class_products;
  for (int array = 0; array < kArrays; ++array) stored[array] = there[array];
  stored[kCounts] = !(digests && shape.classes > 1);  // they are the sizes then; arrays of one number are not compared
  end = 0;
  for (const bool wide : kWideFirst)
    for (int array = 0; array < kArrays; ++array) {
      if (is_wide(shape, Array(array)) != wide) continue;
      uint64_t rows, columns;
      extent_of(shape, Array(array), &rows, &columns);
      at[array] = end;
      bytes[array] = stored[array] ? rows * (columns ? columns : 1) * (wide ? 8 : 4) : 0;
      end += bytes[array];
    }
  if (!stored[kCounts]) {
    at[kCounts] = at[kSizes];
    bytes[kCounts] = bytes[kSizes];
  }
}

void put_descriptions(const Output& out, const Shape& shape) {
  const Layout layout(shape);
  bool first = true;
  for (const bool wide : kWideFirst)
    for (int array = 0; array < Layout::kArrays; ++array) {
      if (is_wide(shape, Layout::Array(array)) != wide || !layout.stored[array]) continue;
      uint64_t rows, columns;
      extent_of(shape, Layout::Array(array), &rows, &columns);
      out.text(first ? "\"" : ",\"");
      first = false;
      out.text(name_of(Layout::Array(array)));
      out.text(array == Layout::kValues ? "\":{\"dtype\":\"U64" : wide ? "\":{\"dtype\":\"I64" : "\":{\"dtype\":\"I32");
      out.text("\",\"shape\":[");
      out.number(int64_t(rows));
      if (columns) out.text(",");
      if (columns) out.number(int64_t(columns));
      out.text("],\"data_offsets\":[");
      out.number(int64_t(layout.at[array]));
      out.text(",");
      out.number(int64_t(layout.at[array] + layout.bytes[array]));
      out.text("]}");
    }
  out.text("}");
}

void put_same(const Output& out, uint64_t classes, bool digests) {
  out.text(digests && classes > 1 ? "{\"sums.counts\":\"digests.sizes\"}" : "{}");
}

}  // namespace bitreplay
