// The steps of a discriminant (docs/law.md section 13), each in its own file, over one piece of the caller's memory.
//
//     scatter.h, .cc  matrix = n S, then n A: int64, the lower triangle by rows
//     factor.cc       L, int32, written over the matrix from its start: a row of L ends before the next rows begin
//     substitute.cc   L z = h and L^T w = z for one class
//     solve.cc        checks, means, weights, biases
//     has_factor.cc   whether the matrix is that of pictures
//     ood.cc          lengths under the covariance, and what pictures that were not learned are expected to look like
//     discriminant.cc all of it, with shrunk means, in the caller's memory           answer.cc   what it answers
#pragma once
#include <cstdint>
#include <cstring>

#include "arithmetic/fixedpoint.h"
#include "bitreplay_discriminant.h"
#include "machine/dispatch.h"
#include "sums/check.h"
#include "sums/shrinkage.h"

namespace bitreplay {

constexpr int64_t kOne = 30, kLow = 16, kMeanBits = 32, kLimit = (int64_t(1) << 31) - 1;
constexpr int64_t kClasses = 16;  // so many classes' means are taken out of the matrix at a time
constexpr int64_t kRows = 16;     // so many rows of the factor are made at a time

struct Solving {
  const SumsKernels* kernels;
  const br_sums* sums;
  int64_t features, pictures, point;
  uint32_t dropped_features;
  uint8_t* matrix;  // int64[triangle(features)], then int32 from the start: read and written as bytes where both lie
  int64_t* means;   // [features]: of one class about the centre, then what is substituted
  int64_t* rest;    // [features]
  int64_t* fine;    // [features]
  int64_t* places;  // [classes]
  int32_t* low;     // [classes][features]
  int32_t* centre;  // [features]
  int32_t* halves;  // [features]
  int64_t* ridges;  // [parts], or null: what each part's diagonal is raised by
  void* shared;     // scatter: int32[2][features][4 kClasses]; factor: int64[kRows][features]

  int64_t number(int64_t at) const {
    int64_t value;
    memcpy(&value, matrix + 8 * at, sizeof value);
    return value;
  }
  void set_number(int64_t at, int64_t value) const { memcpy(matrix + 8 * at, &value, sizeof value); }
  const int32_t* row(int64_t i) const { return reinterpret_cast<const int32_t*>(matrix) + triangle(i); }
  int64_t class_sum(int64_t c, int64_t i) const { return sum_at(sums->class_sums, sums->bits, c * features + i); }
};

// a / b to nearest, ties away from zero; b > 0.
static inline int64_t divide_round(int64_t a, int64_t b) {
  const uint64_t magnitude = a < 0 ? uint64_t(0) - uint64_t(a) : uint64_t(a), divisor = uint64_t(b);
  const uint64_t quotient = magnitude / divisor;
  const uint64_t rounded = quotient + (2 * (magnitude - quotient * divisor) >= divisor);
  return int64_t(a < 0 ? uint64_t(0) - rounded : rounded);
}

// Both of one factorisation; either may be null.
int solve(const br_sums* sums, const br_sums_part* parts, uint32_t part_count, const br_shrinkage& shrinkage,
          void* work, br_solution* solution, br_factor* factor);
// The part with its lambda, that of the constants where it has none.
static inline br_sums_part with_lambda(br_sums_part part, const br_shrinkage& shrinkage, int64_t pictures,
                                       int64_t features) {
  if (!part.top && !part.bottom) br_sums_shrinkage(&shrinkage, pictures, features, &part.top, &part.bottom);
  return part;
}
// Of sums whose matrix and tables will lie in `work`.
Solving solving_in(void* work, const Kernels& kernels, int64_t features, int64_t classes, int64_t pictures,
                   int64_t extent);
// Bits behind the point of the matrix.
static inline int64_t point_of(int64_t extent) { return min_of(31, 44 - bit_length(extent)); }
// The mean of `length` elements of the matrix's diagonal, those below 0 as 0.
int64_t mean_of_diagonal(const Solving& s, int64_t start, int64_t length);
void shrink(const Solving& s, const br_sums_part* parts, uint32_t part_count, const br_shrinkage& shrinkage);
// Scales the matrix and factors it; the number of rows that are left out.
uint32_t factor(const Solving& s);
// Whether n S, its diagonal raised by a little, has a factor without a row that is left out.
bool has_factor(const Solving& s);
// L z = h for s.means with 32 bits behind the point; `top` is the most of their bits above their powers of two. Writes
// high and low of z and the sum of the squares of high, at most 2^60; returns the bits of room with which it is.
int64_t forward_fitting(const Solving& s, int64_t top, int32_t* high, int32_t* low, int64_t* squares);
int64_t top_of(const Solving& s);
// s.means is class c's mean about the centre with 32 bits behind the point. Writes high and low of w; returns the bits
// behind their point.
int64_t substitute(const Solving& s, int32_t* high, int32_t* low);

}  // namespace bitreplay
