// The loop over a program's records: chains go through in blocks of samples, the rest record by record.
#pragma once
#include "machine/operation.h"

namespace bitreplay {

constexpr int64_t kSamplesTogether = 8;  // of a chain: few enough for the cache, enough to read weights seldom

// A call of a record in a chain, which counts saturated numbers for itself: other threads count too.
struct Counted {
  Call call;
  int64_t saturated = 0, *counter = nullptr;

  explicit Counted(const Call& of) : call(of) {
    const int counts = call.record.operation->counts;
    if (counts < 0) return;
    counter = call.data<int64_t>(counts);
    call.roles[counts] = reinterpret_cast<uint8_t*>(&saturated);
  }
  Counted(const Counted&) = delete;
  void add() const {
    if (counter) __atomic_fetch_add(counter, saturated, __ATOMIC_RELAXED);
  }
};

class Runner {
 public:
  // What becomes of records whose operation `merges`, where they are not just run.
  using Merge = void(Runner&, const Record&, void*);

  Runner(const br_program& program, uint8_t* const* regions, const br_run_args& args, Merge* merge = nullptr,
         void* merging = nullptr)
      : program_(program), regions_(regions), args_(args), merge_(merge), merging_(merging),
        helpers_(program.threads > 1 ? program.pool.take() : 0) {}
  ~Runner() {
    if (helpers_) program_.pool.give_back();
  }

  int run(uint32_t list) {
    for (uint32_t i = 0; i < program_.record_count && !error_; i += records_) {
      first_ = program_.records + i;
      records_ = first_->chain ? first_->chain : 1;
      if (first_->list != list) continue;
      pack_weights();
      if (first_->chain) run_chain();
      else if (merge_ && first_->operation->merges) merge_(*this, *first_, merging_);
      else run_record();
    }
    return error_;
  }

  bool counting = true;  // saturated numbers

  void fail(int error) { __atomic_store_n(&error_, error, __ATOMIC_RELAXED); }
  int64_t samples() const { return args_.samples; }
  Call call(const Record& record, int64_t first, int64_t count) const {
    return call_of(program_, record, args_, regions_, first, count);
  }

 private:
  // At most one record of a chain has its operand in the scratch.
  void pack_weights() {
    for (const Record* record = first_; record < first_ + records_; ++record)
      if (record->packed_weights == PackedIn::scratch)
        record->operation->pack_weights(call(*record, 0, args_.samples), scratch());
  }

  void run_chain() {
    const int64_t each = helpers_ ? (args_.samples + 2 * helpers_ + 1) / (2 * (helpers_ + 1)) : kSamplesTogether;
    block_ = each < kSamplesTogether ? each : kSamplesTogether;
    share((args_.samples + block_ - 1) / block_,
          [](void* runner, int64_t piece) { static_cast<Runner*>(runner)->run_block(piece); });
  }

  void run_block(int64_t piece) {
    const int64_t first = piece * block_, left = args_.samples - first, count = left < block_ ? left : block_;
    for (const Record* record = first_; record < first_ + records_ && !failed(); ++record) {
      Counted own(call(*record, first, count));
      if (record->joined) {
        Counted next(call(record[1], first, count));
        if (record->operation->run_into(own.call, next.call)) {
          if (counting) next.add();
          ++record;
          continue;
        }
      }
      if (const int error = record->run(own.call)) fail(error);
      if (counting) own.add();
    }
  }

  void run_record() {
    parts_ = first_->operation->in_parts && helpers_ ? program_.threads : 1;
    share(parts_, [](void* runner, int64_t piece) { static_cast<Runner*>(runner)->run_part(piece); });
  }

  void run_part(int64_t piece) {
    Call part = call(*first_, 0, args_.samples);
    part.part = piece;
    part.parts = parts_;
    int64_t uncounted = 0;
    if (const int counts = first_->operation->counts; counts >= 0 && !counting)
      part.roles[counts] = reinterpret_cast<uint8_t*>(&uncounted);
    if (const int error = first_->run(part)) fail(error);
  }

  void share(int64_t pieces, ThreadPool::Work* work) {
    if (helpers_ && pieces > 1) return program_.pool.share(pieces, work, this);
    for (int64_t piece = 0; piece < pieces && !error_; ++piece) work(this, piece);
  }

  bool failed() const { return __atomic_load_n(&error_, __ATOMIC_RELAXED); }
  uint8_t* scratch() const { return regions_[BR_ARENA] + program_.arena_bytes; }

  const br_program& program_;
  uint8_t* const* regions_;
  const br_run_args& args_;
  Merge* const merge_;
  void* const merging_;
  const int64_t helpers_;
  const Record* first_ = nullptr;
  uint32_t records_ = 1;
  int64_t block_ = 0, parts_ = 1;
  int error_ = BR_OK;
};

// Whether a call can run, in regions by br_region; at most so many samples.
int run_regions(const br_program* program, void* parameters, void* arena, const br_run_args* args, int64_t max_samples,
                uint8_t* regions[3]);

}  // namespace bitreplay
