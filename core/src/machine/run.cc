// The loop over a program's records: chains go through in blocks of samples, the rest record by record.
#include "machine/operation.h"

namespace bitreplay {
namespace {

constexpr int64_t kSamplesTogether = 8;  // of a chain: few enough for the cache, enough to read weights seldom

class Runner {
 public:
  Runner(const br_program& program, uint8_t* const* regions, const br_run_args& args)
      : program_(program), regions_(regions), args_(args), helpers_(program.threads > 1 ? program.crew.take() : 0) {}
  ~Runner() {
    if (helpers_) program_.crew.give_back();
  }

  int run(uint32_t list) {
    for (uint32_t i = 0; i < program_.record_count && !error_; i += records_) {
      first_ = program_.records + i;
      records_ = first_->chain ? first_->chain : 1;
      if (first_->list != list) continue;
      derive();
      if (first_->chain) run_chain();
      else run_record();
    }
    return error_;
  }

 private:
  // At most one record of a chain has its operand in the scratch.
  void derive() {
    for (const Record* record = first_; record < first_ + records_; ++record)
      if (record->derived == Derived::scratch) record->operation->derive(call(*record, 0, args_.samples), scratch());
  }

  void run_chain() {
    const int64_t each = helpers_ ? (args_.samples + 2 * helpers_ + 1) / (2 * (helpers_ + 1)) : kSamplesTogether;
    block_ = each < kSamplesTogether ? each : kSamplesTogether;
    share((args_.samples + block_ - 1) / block_, [](void* runner, int64_t piece) {
      static_cast<Runner*>(runner)->run_block(piece);
    });
  }

  void run_block(int64_t piece) {
    const int64_t first = piece * block_, left = args_.samples - first;
    for (const Record* record = first_; record < first_ + records_ && !failed(); ++record) {
      Call part = call(*record, first, left < block_ ? left : block_);
      int64_t saturated = 0, *counter = nullptr;
      if (const int counts = record->operation->counts; counts >= 0) {
        counter = part.data<int64_t>(counts);
        part.roles[counts] = reinterpret_cast<uint8_t*>(&saturated);
      }
      if (const int error = record->run(part)) __atomic_store_n(&error_, error, __ATOMIC_RELAXED);
      if (counter) __atomic_fetch_add(counter, saturated, __ATOMIC_RELAXED);
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
    if (const int error = first_->run(part)) __atomic_store_n(&error_, error, __ATOMIC_RELAXED);
  }

  void share(int64_t pieces, Crew::Work* work) {
    if (helpers_ && pieces > 1) return program_.crew.share(pieces, work, this);
    for (int64_t piece = 0; piece < pieces && !error_; ++piece) work(this, piece);
  }

  bool failed() const { return __atomic_load_n(&error_, __ATOMIC_RELAXED); }
  uint8_t* scratch() const { return regions_[BR_ARENA] + program_.arena_bytes; }
  Call call(const Record& record, int64_t first, int64_t count) const {
    return call_of(program_, record, args_, regions_, first, count);
  }

  const br_program& program_;
  uint8_t* const* regions_;
  const br_run_args& args_;
  const int64_t helpers_;
  const Record* first_ = nullptr;
  uint32_t records_ = 1;
  int64_t block_ = 0, parts_ = 1;
  int error_ = BR_OK;
};

}  // namespace
}  // namespace bitreplay

int br_run(const br_program* program, int list, void* parameters, void* arena, const br_run_args* args) {
  using namespace bitreplay;
  if (!program || list < BR_PREPARE || list > BR_STEP || !args) return BR_BAD_ARGUMENT;
  if (args->samples < 1 || args->samples > int64_t(program->max_samples)) return BR_BAD_ARGUMENT;
  const int64_t largest_rate = int64_t(1) << 31, largest_shift = 4096;
  if (args->rate_mantissa <= -largest_rate || args->rate_mantissa >= largest_rate) return BR_BAD_ARGUMENT;
  if (args->rate_shift < -largest_shift || args->rate_shift > largest_shift) return BR_BAD_ARGUMENT;
  if ((program->parameter_bytes && !parameters) || (br_program_arena_bytes(program) && !arena)) return BR_BAD_ARGUMENT;
  if (program->parameter_bytes && reinterpret_cast<uintptr_t>(parameters) % 64) return BR_MISALIGNED;
  if (reinterpret_cast<uintptr_t>(arena) % 64) return BR_MISALIGNED;
  uint8_t* const regions[3] = {const_cast<uint8_t*>(program->constants), static_cast<uint8_t*>(parameters),
                               static_cast<uint8_t*>(arena)};
  Runner runner(*program, regions, *args);
  if (list != BR_STEP) return runner.run(uint32_t(list));
  const uint32_t step[] = {BR_FORWARD, BR_BACKWARD, BR_UPDATE, BR_PREPARE};
  for (uint32_t part : step)
    if (int error = runner.run(part)) return error;
  return BR_OK;
}

const char* br_error_text(int error) {
  switch (error) {
    case BR_OK: return "no error";
    case BR_MALFORMED: return "the program, the model or the state is malformed";
    case BR_NO_MEMORY: return "there is not enough memory";
    case BR_BAD_ARGUMENT: return "an argument is out of range";
    case BR_MISALIGNED: return "a region is not aligned";
    case BR_BAD_LABEL: return "a label is not one of the program's classes";
    case BR_UNKNOWN_PATH: return "the instruction set is unknown, or this CPU lacks it";
    case BR_FULL: return "the learner has no room for more";
    case BR_UNKNOWN_CLASS: return "there is no class of that name";
    case BR_TAKEN_NAME: return "there is a class of that name already";
    case BR_NEVER_LEARNED: return "the picture cannot have been learned as that class";
    case BR_NOTHING_LEARNED: return "nothing has been learned yet";
    case BR_BAD_ORDER: return "an experience is not begun, or not ended";
    case BR_DAMAGED: return "the state is truncated or damaged";
    case BR_OTHER_MODEL: return "the state belongs to another model";
    case BR_OTHER_SETTINGS: return "the state was learned with other settings";
    case BR_NO_STATE: return "there is no state";
    case BR_STORAGE: return "reading or writing failed";
    case BR_OTHER_BASE: return "a state does not contain the base: it began as another state, or something was forgotten since";
    default: return "unknown error";
  }
}
