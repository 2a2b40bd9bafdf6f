#include "learner/replay/state_arrays.h"

#include <cstring>

#include "machine/program.h"

namespace bitreplay {
namespace {

struct Type {
  uint32_t width;
  const char *in_files, *in_hashes;
};
// By br_dtype.
constexpr Type kTypes[] = {{1, "I8", "|i1"}, {2, "I16", "<i2"}, {4, "I32", "<i4"}, {8, "I64", "<i8"},
                           {1, "U8", "|u1"}, {4, "U32", "<u4"}, {8, "U64", "<u8"}};

const uint8_t* bytes_of(const void* data) { return static_cast<const uint8_t*>(data); }

Array row(const char* name, uint32_t dtype, uint64_t count, const void* data) {
  return {"memory", name, dtype, 1, {count, 1, 1, 1}, bytes_of(data)};
}

}  // namespace

uint64_t Array::elements() const { return shape[0] * shape[1] * shape[2] * shape[3]; }
uint32_t Array::width() const { return kTypes[dtype].width; }
bool Array::same_kind(const Array& other) const {
  return dtype == other.dtype && dimensions == other.dimensions && !memcmp(shape, other.shape, sizeof shape);
}
const char* type_in_files(uint32_t dtype) { return kTypes[dtype].in_files; }
const char* type_in_hashes(uint32_t dtype) { return kTypes[dtype].in_hashes; }

Array array_at(const br_replay& l, uint32_t number) {
  const Store& s = l.store;
  switch (number) {
    case kWeights:
      return {"head", "consolidated_weights", BR_INT32, 2, {l.at.room, l.at.columns, 1, 1}, bytes_of(l.consolidated)};
    case kPast: return {"head", "past", BR_INT64, 1, {l.at.room, 1, 1, 1}, bytes_of(l.past)};
    case kClasses: return row("classes", BR_INT32, s.count, s.classes);
    case kCodes: {
      const uint32_t* const shape = l.code_shape;
      return {"memory", "codes", BR_UINT64, 4, {s.stored, shape[0], shape[1], shape[2]}, bytes_of(s.codes)};
    }
    case kIds: return row("ids", BR_INT64, s.stored, s.ids);
    case kOrigins: return row("origins", BR_INT32, s.stored, s.origins);
    case kSeen: return row("seen", BR_INT64, s.count, s.seen);
    case kSizes: return row("sizes", BR_INT32, s.count, s.sizes);
    default: break;
  }
  const Tensor& t = l.tail->tensors[l.tensors[number - kFixed]];
  Array array = {"tail", t.name, t.info.dtype, t.info.dimensions, {1, 1, 1, 1}, l.parameters + t.info.offset};
  for (uint32_t axis = 0; axis < t.info.dimensions; ++axis) array.shape[axis] = t.info.shape[axis];
  return array;
}

bool is_there(const br_replay& l, uint32_t number) {
  return l.store.count || (number != kCodes && number != kIds && number != kOrigins);
}

void find_same(const br_replay& l, uint16_t* same) {
  for (uint32_t i = 0; i < array_count(l); ++i) {
    same[i] = kStored;
    const Array array = array_at(l, i);
    for (uint32_t j = 0; j < i && is_there(l, i) && array.elements() > 1 && same[i] == kStored; ++j) {
      if (same[j] != kStored || !is_there(l, j)) continue;
      const Array other = array_at(l, j);
      if (array.same_kind(other) && !memcmp(array.data, other.data, size_t(array.bytes()))) same[i] = uint16_t(j);
    }
  }
}

void put_name(const Output& out, const Array& array) {
  out.text(array.part);
  out.text(".");
  out.text(array.name);
}

void put_description(const Output& out, const Array& array, uint64_t from) {
  out.text("\"");
  put_name(out, array);
  out.text("\":{\"dtype\":\"");
  out.text(type_in_files(array.dtype));
  out.text("\",\"shape\":[");
  for (uint32_t axis = 0; axis < array.dimensions; ++axis) {
    if (axis) out.text(",");
    out.number(int64_t(array.shape[axis]));
  }
  out.text("],\"data_offsets\":[");
  out.number(int64_t(from));
  out.text(",");
  out.number(int64_t(from + array.bytes()));
  out.text("]}");
}

}  // namespace bitreplay
