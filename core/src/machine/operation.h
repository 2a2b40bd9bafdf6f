// What an operation is: declared once, in its file under operations/ (machine/operation_list.h names them all). The
// reference declares the same names, codes, tensors and attributes beside its layers; test_native.py compares the two.
//
// An operation has a check, which refuses a record whose tensors or attributes could lead outside the regions, and a
// run. One that works on rearranged weights says how many bytes they take and how to make them; they are made once
// where the weights are constant, and before each run where they learn.
//
// A run works on any samples that it is given. One that writes more than tensors per sample (and the number that
// `counts`) is given all of them; where it is `in_parts` it does the part that the call asks for, and all parts
// together write what one call about everything would, each byte once.
#pragma once
#include "machine/call.h"
#include "machine/checker.h"

namespace bitreplay {

struct Operation {
  const char* name;
  uint32_t code;
  const char* reads;  // roles; an optional one ends with ?
  const char* writes;
  const char* attributes = "";
  void (*check)(Checker&);
  int (*run)(const Call&);
  int weights = -1;  // the role that is rearranged
  uint64_t (*packed_weights_bytes)(const Call&) =
      nullptr;  // reads no tensor's content; pack_weights reads that of the weights
  void (*pack_weights)(const Call&, uint8_t* packed_weights) = nullptr;
  int counts = -1;  // the role that counts saturated numbers: one int64, which only grows
  bool in_parts = false;
  // What it writes are sums over the samples, int64, and last their exponents, int32: one, or one for each of the sums.
  bool merges = false;
  // Its result, which may go straight into the next record (joins.h), and the role that takes one so. `run_into` does
  // the work of both records, except that it leaves that result's place as it is; or it tells that it cannot, which it
  // never does where the result has no place.
  int passes = -1;
  int takes = -1;
  bool placeless = false;  // whether that result may have no place
  bool (*run_into)(const Call& own, const Call& next) = nullptr;
  // What `run_into` needs besides weights, made once where the records are joined: how many bytes (0: nothing), and
  // how. Both may read the content of constants.
  uint64_t (*prepared_bytes)(const Call& own, const Call& next) = nullptr;
  void (*prepare)(const Call& own, const Call& next, uint8_t* prepared) = nullptr;
};

const Operation* operation_of_code(uint32_t code);
// Its run for an instruction set: the one compiled for it, or its own.
int (*run_of(const Kernels& kernels, const Operation& operation))(const Call&);
const Operation* operation_at(size_t index);  // null beyond the last

// Roles in the order of a record: reads, then writes that are not read too.
struct Role {
  const char* name;
  int length;
  bool optional, written;
};
int roles_of(const Operation& operation, Role roles[kMaxRoles]);
int words_in(const char* text);
int position_in(const char* text, const char* word);  // of a word among words; -1 if it is none of them

}  // namespace bitreplay
