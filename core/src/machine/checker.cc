#include "machine/checker.h"

#include <cstring>

#include "arithmetic/packing.h"
#include "machine/operation.h"

namespace bitreplay {

void Checker::shape(int role, unsigned types, int dimensions, bool per_sample) {
  if (!ok()) return;
  const br_tensor_info& info = tensor(role).info;
  require(types & type_bit(int(info.dtype)), "a tensor has the wrong type");
  require(info.dimensions == uint32_t(dimensions), "a tensor has the wrong number of dimensions");
  require((info.per_sample != 0) == per_sample, "a tensor is per sample where it should not be, or the reverse");
}

void Checker::vector(int role, int type, int64_t length) {
  whole(role, type_bit(type), 1);
  if (ok()) require(size(role, 0) == length, "a vector has the wrong length");
}

void Checker::exponents(int role) { per_sample(role, type_bit(BR_INT32), 0); }

void Checker::same_shape(int role, int other) {
  if (!ok()) return;
  const br_tensor_info &a = tensor(role).info, &b = tensor(other).info;
  require(a.dimensions == b.dimensions && a.per_sample == b.per_sample, "two tensors differ in shape");
  for (int axis = 0; axis < 4; ++axis) require(a.shape[axis] == b.shape[axis], "two tensors differ in shape");
}

void Checker::range(int number, int64_t low, int64_t high) {
  if (ok()) require(low <= attribute(number) && attribute(number) <= high, "an attribute is out of range");
}

void Checker::gradient_bits(int number, int stored_role) {
  if (!ok()) return;
  int64_t bits = attribute(number);
  int type = bits == 8 ? BR_INT8 : bits == 16 ? BR_INT16 : BR_INT32;
  require(bits == 8 || bits == 16 || bits == 32, "a gradient must have 8, 16 or 32 bits");
  require(tensor(stored_role).info.dtype == uint32_t(type), "a tensor's type does not match its bits");
}

void Checker::rescale() {
  multiplier();
  const char* const values[] = {"x_zero", "y_zero", "low", "high"};
  for (const char* name : values) value(attribute_named(name));
}

void Checker::multiplier() {
  mantissa(attribute_named("mantissa"));
  shift(attribute_named("shift"));
}

void Checker::window(int map, int result) {
  range(attribute_named("stride"), 1, kLargestSize);
  range(attribute_named("pad"), 0, kLargestSize);
  if (!ok()) return;
  for (int axis = 0; axis < 2; ++axis)
    require(size(map, axis) <= kLargestSize && size(result, axis) <= kLargestSize, "the map is too large");
}

void Checker::square(int weights, int axis) {
  if (!ok()) return;
  require(size(weights, axis) == size(weights, axis + 1) && size(weights, axis) <= kLargestSize,
          "the kernel is not square");
}

void Checker::packed(int map, int bits) {
  per_sample(bits, type_bit(BR_UINT64), 3);
  if (ok())
    require(size(map, 0) == size(bits, 0) && size(map, 1) == size(bits, 1) && words_for(size(map, 2)) == size(bits, 2),
            "the bits do not match the map");
}

void Checker::input_grad(unsigned types, int dimensions) {
  const int gx = role_named("gx");
  per_sample(role_named("g"), types, dimensions);
  exponents(role_named("e"));
  per_sample(gx, kStored, 3);
  exponents(role_named("ex"));
  gradient_bits(attribute_named("bits"), gx);
}

void Checker::second_gradient(int64_t max_bound) {
  const int g = role_named("g"), other = role_named("other"), other_e = role_named("other_e");
  require(has(other) == has(other_e), "a second gradient has no exponents");
  if (has(other) && ok()) {
    per_sample(other, kWide, int(tensor(g).info.dimensions));
    same_shape(g, other);
    exponents(other_e);
  }
  value(attribute_named("other_factor"));
  shift(attribute_named("other_shift"));
  range(attribute_named("other_bound"), 0, max_bound);
}

// An operation that lacks the name has no such check: its first record would stop every test.
int Checker::role_named(const char* name) const {
  Role roles[kMaxRoles];
  const int count = roles_of(*record_.operation, roles);
  for (int role = 0; role < count; ++role)
    if (roles[role].length == int(strlen(name)) && !memcmp(roles[role].name, name, strlen(name))) return role;
  __builtin_trap();
}

int Checker::attribute_named(const char* name) const {
  const int position = position_in(record_.operation->attributes, name);
  if (position < 0) __builtin_trap();
  return position;
}

}  // namespace bitreplay
