// A program in memory: tables decoded from the bytes, constants where they lie, packed weights.
#pragma once
#include <cstddef>
#include <cstdint>

#include "bitreplay.h"
#include "machine/thread_pool.h"

namespace bitreplay {

struct Call;
struct Kernels;
struct Operation;

constexpr uint32_t kLists = 4;
constexpr uint64_t kLargestRegion = uint64_t(1) << 40;  // sums of sizes below it cannot overflow
constexpr uint64_t kSpareArena = 4096;                  // that no tensor uses, besides as much again as they do
constexpr uint32_t kLargestMinibatch = 1 << 20;
constexpr uint32_t kMaxThreads = 64;
constexpr int kMaxRoles = 16;  // tensors of a record

struct Tensor {
  br_tensor_info info;
  uint64_t elements;  // of one sample where per sample
  char name[45];

  uint64_t bytes(uint64_t samples) const;  // with `samples` samples
};

// Where the packed weights of a record are: nowhere, in the program, or in the scratch behind the arena's tensors,
// which all records share: it is made just before its record runs.
enum class PackedIn : uint32_t { none, program, scratch };

struct Record {
  const Operation* operation;
  int (*run)(const Call&);  // the operation's own, or the one compiled for the instruction set
  const int32_t* tensors;   // numbers, -1 where an optional one is absent
  const int64_t* attributes;
  uint64_t packed_offset;
  uint64_t prepared_offset;  // beside the packed weights: what its join needs; 0: nothing, packed weights come first
  PackedIn packed_weights;
  uint32_t list;
  uint32_t tensor_count;
  uint16_t chain;   // records in the chain that begins here (chains.h); 0 inside one, and where none is
  uint16_t joined;  // whether it may run together with the next (joins.h)
};

}  // namespace bitreplay

// Two allocations: this with tensors, records and their numbers; packed weights.
struct br_program {
  const bitreplay::Kernels* kernels;
  bitreplay::Tensor* tensors;
  bitreplay::Record* records;
  const uint8_t* parameters;
  const uint8_t* constants;
  uint8_t* packed_weights;
  uint64_t image_bytes, table_bytes, arena_bytes, scratch_bytes, parameter_bytes, packed_weights_bytes;
  uint32_t max_samples, tensor_count, record_count, threads;
  mutable bitreplay::ThreadPool pool;
};
