#include "checker.h"

namespace bitreplay {

void Checker::shape(int role, unsigned types, int dimensions, bool per_sample) {
  if (!ok()) return;
  const br_tensor_info& info = tensor(role).info;
  require(types & type_bit(int(info.dtype)), "a tensor has a type that it does not take");
  require(info.dimensions == uint32_t(dimensions), "a tensor has another number of dimensions");
  require((info.per_sample != 0) == per_sample, "a tensor is per sample and should not be, or the reverse");
}

void Checker::vector(int role, int type, int64_t length) {
  whole(role, type_bit(type), 1);
  if (ok()) require(size(role, 0) == length, "a row of numbers has the wrong length");
}

void Checker::exponents(int role) {
  per_sample(role, type_bit(BR_INT32), 0);
}

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
  require(bits == 8 || bits == 16 || bits == 32, "a gradient has neither 8, 16 nor 32 bits");
  require(tensor(stored_role).info.dtype == uint32_t(type), "a tensor is stored with another width than its bits");
}

}  // namespace bitreplay
