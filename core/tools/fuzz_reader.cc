// clang's libFuzzer on the readers of states: bytes in, whatever they are; the checksum is made anew, so that what lies
// behind it is reached.
//
//   fuzz_reader -runs=N FOLDER      states to begin with: tests/corpus/states and states-2;
//                                   the model is FUZZ_MODEL: tests/corpus/model.bin
//
// What is refused changes nothing. What is accepted is written again, verified, used for answers, and forgotten class
// by class.
#include "bitreplay_learner.h"
#include "hostile.h"

using namespace hostile;

namespace {

struct Writing {
  uint8_t* at;
  size_t size;
};

int write_bytes(void* context, size_t offset, const void* bytes, size_t size) {
  const Writing& to = *static_cast<Writing*>(context);
  if (offset + size > to.size) abort();
  memcpy(to.at + offset, bytes, size);
  return 0;
}

int read_exactly(void* context, size_t offset, void* to, size_t size) {
  const Bytes& from = *static_cast<Bytes*>(context);
  if (offset > from.size || size > from.size - offset) abort();
  memcpy(to, from.at + offset, size);
  return 0;
}

br_learner* open_learner() {
  const char* const path = getenv("FUZZ_MODEL");
  static const Bytes model = copy(read_file(path ? path : "tests/corpus/model.bin"));
  static const Bytes memory = room(1 << 20);
  const br_learner_options options = {8, 16, 64, 1, 1024, 0, 64, 0};
  br_learner* learner = nullptr;
  char error[256] = "";
  if (br_learner_open(model.at, model.size, &options, memory.at, memory.size, &learner, error, sizeof error)) abort();
  return learner;
}

void check_written(br_learner* learner) {
  Bytes written = room(br_learner_state_bytes(learner));
  Writing to = {written.at, written.size};
  if (br_learner_write(learner, write_bytes, &to)) abort();
  if (br_learner_verify(learner, read_exactly, &written, written.size)) abort();
  free(written.at);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static br_learner* const learner = open_learner();
  br_learner_clear(learner);
  char before[65], after[65];
  br_learner_hash(learner, before);
  Bytes state = room(size);
  if (size) memcpy(state.at, data, size);
  seal_state(state);
  const int failed = br_learner_read(learner, read_exactly, &state, state.size);
  if (failed) {
    br_learner_hash(learner, after);
    if (memcmp(before, after, 64)) abort();
  } else {
    check_written(learner);
    int8_t x[64] = {1, -2, 3};
    int32_t probabilities[8];
    br_answer answer = {0, nullptr, probabilities, BR_SHARE(0.05), 0};
    if (br_learner_encoded_bytes(learner) <= sizeof x && br_learner_classes(learner))
      br_learner_predict_encoded(learner, x, &answer);
    const int merged = br_learner_merge(learner, read_exactly, &state, state.size);
    if (merged && merged != BR_FULL) abort();
    check_written(learner);
    br_name name;
    while (br_learner_class(learner, 0, &name, nullptr, nullptr) == BR_OK) {
      char text[800];
      if (name.text) memcpy(text, name.text, name.length);
      const br_name first = {name.text ? text : nullptr, name.length, name.number};
      if (br_learner_forget(learner, &first)) break;
      check_written(learner);
    }
  }
  free(state.at);
  return 0;
}
