// Reads a program's bytes (docs/law.md section 12) and refuses what does not fit, before any of it is believed.
#include "machine/program.h"

#include <cstdarg>
#include <cstring>
#if !defined(BITREPLAY_EMBEDDED)
#include <cstdlib>
#endif

#include "arithmetic/elements.h"
#include "machine/chains.h"
#include "machine/crc32.h"
#include "machine/dispatch.h"
#include "machine/joins.h"
#include "machine/operation.h"
#include "machine/sentence.h"

namespace bitreplay {

uint64_t Tensor::bytes(uint64_t samples) const {
  return elements * uint64_t(element_bytes(int(info.dtype))) * (info.per_sample ? samples : 1);
}

namespace {

constexpr size_t kHeader = 64, kTensorBytes = 72, kRecordBytes = 16;

template <class T>
T read(const uint8_t* from) {  // little endian, as every machine this library is built for
  T value;
  memcpy(&value, from, sizeof value);
  return value;
}

struct Header {
  uint32_t max_samples, tensors, records, zero;
  uint64_t arena, parameters, constants, scratch;
};

class Reader {
 public:
  Reader(const void* bytes, size_t size, uint32_t threads, char* error, size_t error_size)
      : bytes_(static_cast<const uint8_t*>(bytes)), size_(size), threads_(threads), error_(error),
        error_size_(error ? error_size : 0) {}
  int open(br_program** result);
  int open_in(void* memory, size_t size, br_program** result);
  int plan(br_memory* memory);

 private:
  int fail(int code, const char* format, ...) __attribute__((format(printf, 3, 4)));
  int header();
  int measure();  // sizes of the tables, before they are allocated
  int tensors();
  int records();
  int record(Record* record, const uint8_t* at, int32_t** numbers, int64_t** attributes);
  int overlaps(const Record& record);
  int packed_weights();  // how large
  int prepared();        // the same for what joins need, behind them
  int pack_weights();
  uint64_t most_packed_bytes() const { return 16 * uint64_t(size_) + (1 << 20); }
  int allocate(size_t bytes);
  int read_all();

  const uint8_t* bytes_;
  size_t size_;
  uint32_t threads_;
  char* error_;
  size_t error_size_;
  Header header_ = {};
  size_t records_at_ = 0, records_end_ = 0;
  uint64_t number_count_ = 0, attribute_count_ = 0;
  br_program* program_ = nullptr;
  uint8_t* memory_ = nullptr;  // the caller's; null: the heap
  size_t memory_size_ = 0;
};

int Reader::fail(int code, const char* format, ...) {
  if (error_size_ == 0) return code;
  va_list list;
  va_start(list, format);
  put_sentence(error_, error_size_, format, list);
  va_end(list);
  return code;
}

// A build for devices has no heap: programs are opened in the caller's memory alone.
#if defined(BITREPLAY_EMBEDDED)
void* from_heap(size_t) { return nullptr; }
void give_back(void*) {}
const char* wanted_path() { return ""; }
#else
void* from_heap(size_t bytes) { return aligned_alloc(64, (bytes + 63) / 64 * 64); }
void give_back(void* memory) { free(memory); }
const char* wanted_path() { return getenv("BITREPLAY_ISA"); }
#endif

int Reader::header() {
  if (size_ < kHeader || memcmp(bytes_, "BITREPLY", 8))
    return fail(BR_MALFORMED, "not a bitreplay program: it does not begin with BITREPLY and a complete header");
  if (read<uint32_t>(bytes_ + 8) != 1)
    return fail(BR_MALFORMED, "program version %u cannot be read; expected 1", read<uint32_t>(bytes_ + 8));
  if (crc32(bytes_ + 16, size_ - 16) != read<uint32_t>(bytes_ + 12))
    return fail(BR_MALFORMED, "program is damaged: its checksum does not match its content");
  memcpy(&header_, bytes_ + 16, sizeof header_);
  const Header& h = header_;
  if (h.max_samples < 1 || h.max_samples > kLargestMinibatch || h.arena > kLargestRegion || h.scratch > h.arena ||
      h.parameters % 8 || h.constants % 8 || h.parameters > size_ || h.constants > size_ ||
      h.tensors > size_ / kTensorBytes || h.records > size_ / kRecordBytes)
    return fail(BR_MALFORMED, "program is malformed: sizes in its header are out of range");
  return BR_OK;
}

int Reader::measure() {
  records_at_ = kHeader + kTensorBytes * header_.tensors;
  size_t at = records_at_;
  for (uint32_t i = 0; i < header_.records; ++i) {
    if (at > size_ || size_ - at < kRecordBytes) return fail(BR_MALFORMED, "program ends inside record %u", i);
    uint64_t numbers = read<uint32_t>(bytes_ + at + 8), attributes = read<uint32_t>(bytes_ + at + 12);
    uint64_t bytes = kRecordBytes + 4 * (numbers + numbers % 2) + 8 * attributes;
    if (bytes > size_ - at) return fail(BR_MALFORMED, "program ends inside record %u", i);
    at += bytes;
    number_count_ += numbers + numbers % 2;
    attribute_count_ += attributes;
  }
  records_end_ = at;
  if (at > size_ || size_ - at != header_.parameters + header_.constants)
    return fail(BR_MALFORMED, "program has %zu bytes, expected %llu", size_,
                static_cast<unsigned long long>(at + header_.parameters + header_.constants));
  return BR_OK;
}

int Reader::tensors() {
  const uint64_t region_bytes[] = {header_.constants, header_.parameters, header_.arena, kLargestRegion};
  uint64_t used = 0;  // of the arena
  for (uint32_t i = 0; i < header_.tensors; ++i) {
    const uint8_t* at = bytes_ + kHeader + kTensorBytes * i;
    Tensor& t = program_->tensors[i];
    memcpy(t.name, at + 28, 44);
    t.name[44] = 0;
    t.info = {read<uint64_t>(at + 20), at[0], at[1], at[2], at[3], {1, 1, 1, 1}};
    if (at[0] > BR_PASSING || at[1] > BR_UINT64 || at[2] > 1 || at[3] > 4)
      return fail(BR_MALFORMED, "tensor %u has an unknown region, type or shape", i);
    t.elements = 1;
    for (int axis = 0; axis < at[3]; ++axis) {
      t.info.shape[axis] = read<uint32_t>(at + 4 + 4 * axis);
      if (t.info.shape[axis] == 0) return fail(BR_MALFORMED, "tensor %u has no elements", i);
      if (t.elements > kLargestRegion / t.info.shape[axis]) return fail(BR_MALFORMED, "tensor %u is too large", i);
      t.elements *= t.info.shape[axis];
    }
    // elements <= 2^40, 8 bytes each, samples <= 2^20 could leave 64 bits: divide instead of multiplying.
    uint64_t size = region_bytes[at[0]], one = t.bytes(1);
    uint64_t samples = t.info.per_sample ? header_.max_samples : 1;
    if (t.info.offset > size || one > (size - t.info.offset) / samples)
      return fail(BR_MALFORMED, "tensor %u lies outside its region", i);
    if (t.info.offset % uint64_t(element_bytes(at[1]))) return fail(BR_MALFORMED, "tensor %u is not aligned", i);
    const uint64_t end = t.info.offset + one * samples;
    if (at[0] == BR_ARENA && end > used) used = end;
  }
  if (header_.arena > 2 * used + kSpareArena)
    return fail(BR_MALFORMED, "program asks for an arena of %llu bytes, but its tensors take %llu",
                static_cast<unsigned long long>(header_.arena), static_cast<unsigned long long>(used));
  return BR_OK;
}

int Reader::records() {
  int32_t* numbers = reinterpret_cast<int32_t*>(program_->records + header_.records);
  int64_t* attributes = reinterpret_cast<int64_t*>(numbers + number_count_);
  const uint8_t* at = bytes_ + records_at_;
  for (uint32_t i = 0; i < header_.records; ++i) {
    uint32_t tensors = read<uint32_t>(at + 8), count = read<uint32_t>(at + 12);
    int error = record(&program_->records[i], at, &numbers, &attributes);
    if (error) return error;
    at += kRecordBytes + 4 * (tensors + tensors % 2) + 8 * count;
  }
  return BR_OK;
}

int Reader::record(Record* r, const uint8_t* at, int32_t** numbers, int64_t** attributes) {
  uint32_t code = read<uint32_t>(at), tensors = read<uint32_t>(at + 8), count = read<uint32_t>(at + 12);
  const Operation* operation = operation_of_code(code);
  if (!operation) return fail(BR_MALFORMED, "program contains operation %u, which this version does not know", code);
  Role roles[kMaxRoles];
  int role_count = roles_of(*operation, roles);
  *r = {operation,
        run_of(*program_->kernels, *operation),
        *numbers,
        *attributes,
        0,
        0,
        PackedIn::none,
        read<uint32_t>(at + 4),
        0,
        0,
        0};
  if (r->list >= kLists || tensors != uint32_t(role_count) || count != uint32_t(words_in(operation->attributes)))
    return fail(BR_MALFORMED, "a record of %s does not match the operation", operation->name);
  r->tensor_count = tensors;
  memcpy(*numbers, at + kRecordBytes, 4 * tensors);
  memcpy(*attributes, at + kRecordBytes + 4 * (tensors + tensors % 2), 8 * count);
  *numbers += tensors + tensors % 2;
  *attributes += count;
  for (int role = 0; role < role_count; ++role) {
    int32_t number = r->tensors[role];
    if (number < -1 || number >= int64_t(header_.tensors))
      return fail(BR_MALFORMED, "a record of %s refers to a tensor that does not exist", operation->name);
    if (number < 0 && !roles[role].optional)
      return fail(BR_MALFORMED, "a record of %s lacks its tensor %.*s", operation->name, roles[role].length,
                  roles[role].name);
    if (number < 0 || !roles[role].written) continue;
    if (program_->tensors[number].info.region == BR_CONSTANT)
      return fail(BR_MALFORMED, "a record of %s writes to a constant", operation->name);
    if (program_->tensors[number].info.region == BR_PARAMETER && (r->list == BR_PREPARE || r->list == BR_FORWARD))
      return fail(BR_MALFORMED, "a record of %s writes to a parameter before the backward pass", operation->name);
  }
  Checker checker(*program_, *r);
  operation->check(checker);
  if (operation->counts >= 0) checker.vector(operation->counts, BR_INT64, 1);
  if (!checker.ok()) return fail(BR_MALFORMED, "a record of %s: %s", operation->name, checker.complaint());
  return overlaps(*r);
}

// A tensor that a record writes shares no byte with another of its tensors.
int Reader::overlaps(const Record& r) {
  Role roles[kMaxRoles];
  int count = roles_of(*r.operation, roles);
  for (int written = 0; written < count; ++written) {
    if (!roles[written].written || r.tensors[written] < 0) continue;
    const Tensor& a = program_->tensors[r.tensors[written]];
    for (int other = 0; other < count; ++other) {
      if (other == written || r.tensors[other] < 0) continue;
      const Tensor& b = program_->tensors[r.tensors[other]];
      bool apart = a.info.offset + a.bytes(header_.max_samples) <= b.info.offset ||
                   b.info.offset + b.bytes(header_.max_samples) <= a.info.offset;
      if (a.info.region == b.info.region && !apart)
        return fail(BR_MALFORMED, "a record of %s writes over another of its tensors", r.operation->name);
    }
  }
  return BR_OK;
}

// Rearranged weights: constant ones are kept in the program, learned ones pass through the shared scratch.
int Reader::packed_weights() {
  uint8_t* regions[3] = {const_cast<uint8_t*>(program_->constants), nullptr, nullptr};
  const br_run_args none = {};
  for (uint32_t i = 0; i < header_.records; ++i) {
    Record& r = program_->records[i];
    if (r.operation->weights < 0) continue;
    const Call call = call_of(*program_, r, none, regions, 0, 1);
    const uint64_t bytes = (r.operation->packed_weights_bytes(call) + 63) / 64 * 64;
    if (bytes == 0) continue;
    if (call.tensor(r.operation->weights).info.region == BR_CONSTANT) {
      r.packed_weights = PackedIn::program;
      r.packed_offset = program_->packed_weights_bytes;
      program_->packed_weights_bytes += bytes;
    } else {
      r.packed_weights = PackedIn::scratch;
      program_->scratch_bytes = bytes > program_->scratch_bytes ? bytes : program_->scratch_bytes;
    }
    if (program_->packed_weights_bytes > most_packed_bytes() || program_->scratch_bytes > kLargestRegion)
      return fail(BR_MALFORMED, "program uses its weights in too many operations");
  }
  return BR_OK;
}

int Reader::prepared() {
  uint8_t* regions[3] = {const_cast<uint8_t*>(program_->constants), nullptr, nullptr};
  const br_run_args none = {};
  for (uint32_t i = 0; i < header_.records; ++i) {
    Record& r = program_->records[i];
    if (!r.joined || !r.operation->prepared_bytes || r.packed_weights != PackedIn::program) continue;
    const Call call = call_of(*program_, r, none, regions, 0, 1),
               next = call_of(*program_, (&r)[1], none, regions, 0, 1);
    const uint64_t bytes = (r.operation->prepared_bytes(call, next) + 63) / 64 * 64;
    r.prepared_offset = bytes ? program_->packed_weights_bytes : 0;
    program_->packed_weights_bytes += bytes;
    if (program_->packed_weights_bytes > most_packed_bytes())
      return fail(BR_MALFORMED, "program uses its weights in too many operations");
  }
  return BR_OK;
}

int Reader::pack_weights() {
  if (program_->packed_weights_bytes == 0) return BR_OK;
  uint8_t* regions[3] = {const_cast<uint8_t*>(program_->constants), nullptr, nullptr};
  const br_run_args none = {};
  const size_t tables = (program_->table_bytes + 63) / 64 * 64;
  if (!memory_) program_->packed_weights = static_cast<uint8_t*>(from_heap(size_t(program_->packed_weights_bytes)));
  else if (tables <= memory_size_ && program_->packed_weights_bytes <= memory_size_ - tables)
    program_->packed_weights = memory_ + tables;
  if (!program_->packed_weights)
    return fail(BR_NO_MEMORY, "not enough memory for %llu bytes of packed weights",
                static_cast<unsigned long long>(program_->packed_weights_bytes));
  for (uint32_t i = 0; i < header_.records; ++i) {
    const Record& r = program_->records[i];
    if (r.packed_weights != PackedIn::program) continue;
    const Call call = call_of(*program_, r, none, regions, 0, 1);
    r.operation->pack_weights(call, call.packed_weights());
    if (call.prepared()) r.operation->prepare(call, call_of(*program_, (&r)[1], none, regions, 0, 1), call.prepared());
  }
  return BR_OK;
}

int Reader::allocate(size_t bytes) {
  void* const room = !memory_ ? from_heap(bytes) : bytes <= memory_size_ ? memory_ : nullptr;
  if (room) program_ = static_cast<br_program*>(memset(room, 0, bytes));
  return program_ ? BR_OK : fail(BR_NO_MEMORY, "not enough memory for %zu bytes of the program's tables", bytes);
}

// Without packed weights yet: enough to tell how much memory it takes.
int Reader::read_all() {
  if (!bytes_) return fail(BR_BAD_ARGUMENT, "no program: its bytes are a null pointer");
  if (reinterpret_cast<uintptr_t>(bytes_) % 8) return fail(BR_MISALIGNED, "program bytes must be aligned to 8");
  if (threads_ < 1 || threads_ > kMaxThreads)
    return fail(BR_BAD_ARGUMENT, "a program takes 1 to %u threads, not %u", kMaxThreads, threads_);
  const Kernels* kernels = chosen_kernels();
  if (!kernels) return fail(BR_UNKNOWN_ISA, "BITREPLAY_ISA is %s; built here: %s", wanted_path(), br_isas());
  int error = header();
  if (!error) error = measure();
  if (error) return error;
  size_t bytes = sizeof(br_program) + header_.tensors * sizeof(Tensor) + header_.records * sizeof(Record) +
                 4 * number_count_ + 8 * attribute_count_;
  if (int failed = allocate(bytes)) return failed;
  program_->kernels = kernels;
  program_->image_bytes = size_;
  program_->table_bytes = bytes;
  program_->tensors = reinterpret_cast<Tensor*>(program_ + 1);
  program_->records = reinterpret_cast<Record*>(program_->tensors + header_.tensors);
  program_->parameters = bytes_ + records_end_;
  program_->constants = program_->parameters + header_.parameters;
  program_->arena_bytes = (header_.arena + 63) / 64 * 64;
  program_->parameter_bytes = header_.parameters;
  program_->max_samples = header_.max_samples;
  program_->threads = threads_;
  program_->tensor_count = header_.tensors;
  program_->record_count = header_.records;
  error = tensors();
  if (!error) error = records();
  if (!error) error = packed_weights();
  if (!error) find_chains(program_);
  const char* const wrong = error ? nullptr : find_joins(program_);
  if (wrong) return fail(BR_MALFORMED, "program is malformed: %s", wrong);
  return error ? error : prepared();
}

int Reader::open(br_program** result) {
  int error = read_all();
  if (!error) error = pack_weights();
  if (error) br_program_close(program_);
  else *result = program_;
  return error;
}

int Reader::open_in(void* memory, size_t size, br_program** result) {
  if (!memory || reinterpret_cast<uintptr_t>(memory) % 64)
    return fail(BR_MISALIGNED, "the memory must be aligned to 64");
  memory_ = static_cast<uint8_t*>(memory);
  memory_size_ = size;
  int error = read_all();
  if (!error) error = pack_weights();
  if (!error) *result = program_;
  return error;
}

int Reader::plan(br_memory* memory) {
  const int error = read_all();
  if (!error) br_program_memory(program_, memory);
  br_program_close(program_);
  return error;
}

}  // namespace
}  // namespace bitreplay

int br_program_open(const void* bytes, size_t size, br_program** program, char* error, size_t error_size) {
  return br_program_open_threads(bytes, size, 1, program, error, error_size);
}

int br_program_open_threads(const void* bytes, size_t size, uint32_t threads, br_program** program, char* error,
                            size_t error_size) {
  if (!program) return BR_BAD_ARGUMENT;
  *program = nullptr;
  return bitreplay::Reader(bytes, size, threads, error, error_size).open(program);
}

int br_program_open_in(const void* bytes, size_t size, void* memory, size_t memory_size, br_program** program,
                       char* error, size_t error_size) {
  if (!program) return BR_BAD_ARGUMENT;
  *program = nullptr;
  return bitreplay::Reader(bytes, size, 1, error, error_size).open_in(memory, memory_size, program);
}

int br_program_plan(const void* bytes, size_t size, uint32_t threads, br_memory* memory, char* error,
                    size_t error_size) {
  if (!memory) return BR_BAD_ARGUMENT;
  *memory = {};
  return bitreplay::Reader(bytes, size, threads, error, error_size).plan(memory);
}

void br_program_memory(const br_program* p, br_memory* memory) {
  if (!memory) return;
  *memory = {};
  if (!p) return;
  *memory = {p->image_bytes,     p->table_bytes, p->packed_weights_bytes,
             p->parameter_bytes, p->arena_bytes, p->scratch_bytes};
}

void br_program_close(br_program* program) {
  if (!program) return;
  program->pool.dismiss();
  bitreplay::give_back(program->packed_weights);
  bitreplay::give_back(program);
}

uint32_t br_program_max_samples(const br_program* p) { return p ? p->max_samples : 0; }
uint64_t br_program_parameter_bytes(const br_program* p) { return p ? p->parameter_bytes : 0; }
uint64_t br_program_arena_bytes(const br_program* p) { return p ? p->arena_bytes + p->scratch_bytes : 0; }
const void* br_program_initial_parameters(const br_program* p) { return p ? p->parameters : nullptr; }

int br_program_tensor(const br_program* p, const char* name, br_tensor_info* info) {
  if (!p || !name || !info) return BR_BAD_ARGUMENT;
  for (uint32_t i = 0; i < p->tensor_count; ++i) {
    if (!strcmp(p->tensors[i].name, name)) {
      *info = p->tensors[i].info;
      return BR_OK;
    }
  }
  return BR_BAD_ARGUMENT;
}
