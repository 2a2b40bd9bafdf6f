// Checks one record against what its operation can work with. The first complaint is kept; after it, nothing is true.
#pragma once
#include "machine/program.h"

namespace bitreplay {

constexpr unsigned type_bit(int type) { return 1u << type; }
constexpr unsigned kStored = type_bit(BR_INT8) | type_bit(BR_INT16) | type_bit(BR_INT32);
constexpr unsigned kWide = kStored | type_bit(BR_INT64);
constexpr int64_t kLargestSize = 1 << 16;  // rows, columns, strides, pads, sides of a kernel

class Checker {
 public:
  Checker(const br_program& program, const Record& record) : program_(program), record_(record) {}

  const char* complaint() const { return complaint_; }
  bool ok() const { return complaint_ == nullptr; }
  bool has(int role) const { return record_.tensors[role] >= 0; }
  const Tensor& tensor(int role) const { return program_.tensors[record_.tensors[role]]; }
  int64_t size(int role, int axis) const { return tensor(role).info.shape[axis]; }
  int64_t elements(int role) const { return int64_t(tensor(role).elements); }
  int64_t attribute(int number) const { return record_.attributes[number]; }

  void require(bool condition, const char* complaint) {
    if (!condition && complaint_ == nullptr) complaint_ = complaint;
  }
  // One of the types in the set, so many dimensions, per sample or not.
  void per_sample(int role, unsigned types, int dimensions) { shape(role, types, dimensions, true); }
  void whole(int role, unsigned types, int dimensions) { shape(role, types, dimensions, false); }
  void vector(int role, int type, int64_t length);  // one row for the whole minibatch
  void exponents(int role);                         // int32, one a sample
  void same_shape(int role, int other);
  void range(int attribute, int64_t low, int64_t high);
  void shift(int attribute) { range(attribute, -4096, 4096); }
  void mantissa(int attribute) { range(attribute, -(int64_t(1) << 31), int64_t(1) << 31); }
  void value(int attribute) { range(attribute, -(int64_t(1) << 40), int64_t(1) << 40); }
  void gradient_bits(int attribute, int stored_role);  // 8, 16 or 32 bits, stored in that width

  // What many operations have. Attributes, and the roles of a gradient, are found by the names that they all use.
  void rescale();                      // attributes x_zero mantissa shift y_zero low high
  void multiplier();                   // attributes mantissa shift
  void window(int map, int result);    // attributes stride pad; both maps of a size that their products can count
  void square(int weights, int axis);  // the kernel's sides are this axis and the next
  void packed(int map, int bits);      // one bit for each element of the map
  // g e gx ex, attribute bits: a gradient of one of the types comes in, one of `bits` bits goes out.
  void input_grad(unsigned types = kStored, int dimensions = 3);
  // other? other_e?, attributes other_factor other_shift other_bound: of the shape of g.
  void second_gradient(int64_t max_bound = 62);

 private:
  int role_named(const char* name) const;
  int attribute_named(const char* name) const;
  void shape(int role, unsigned types, int dimensions, bool per_sample);

  const br_program& program_;
  const Record& record_;
  const char* complaint_ = nullptr;
};

}  // namespace bitreplay
