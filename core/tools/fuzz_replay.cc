// Hostile inputs for the replay learner in C: models, states and call orders. To be built with sanitizers, which end
// the process.
//
//   fuzz_replay MODEL STATE INPUTS SEED
//
// Prints how many models were opened, how many steps learned and how many states read.
#include <cstdio>
#include <cstdlib>

#include "bitreplay_learner.h"
#include "hostile.h"

using namespace hostile;

namespace {

unsigned long steps, states;

br_learner* open(const Bytes& model, Bytes* memory) {
  static const size_t enough = 3 << 20;
  const br_learner_options options = {1 + draw(draw(3) ? 16 : 40), 1 + draw(40), 0, 0, 1024, 0, 0, 1 + draw(12)};
  br_learner* learner = nullptr;
  char error[64];
  *memory = room(draw(10) ? enough : draw(1 << 18));
  br_learner_open(model.at, model.size, &options, memory->at, memory->size, &learner, error, sizeof error);
  return learner;
}

void one_call(br_learner* learner, const Bytes& state, uint64_t* code) {
  char text[8], other_text[8], hash[65];
  uint8_t pixels[16 * 16 * 4];
  const br_name name = any_name(text), other = any_name(other_text);
  for (uint32_t i = 0; i < br_learner_encoded_bytes(learner) / 8; ++i)
    code[i] = uint64_t(draw(1u << 30)) << 34 ^ draw(1u << 30);
  for (uint8_t& pixel : pixels) pixel = uint8_t(draw(256));
  const br_picture picture = {pixels, 1 + draw(16), 1 + draw(16), 3 + draw(2), 0};
  int64_t scores[64], pictures, stored;
  int32_t probabilities[64];
  br_answer answer = {0, draw(2) ? scores : nullptr, draw(2) ? probabilities : nullptr, draw(9) == 0, 0};
  br_progress progress;
  br_name class_name;
  Bytes given = copy(state);
  if (draw(2)) spoil(given, draw(2) ? 2400 : kMaxBytes), seal_state(given);
  switch (draw(20)) {
    case 0:
    case 1: br_learner_begin(learner); break;
    case 2: br_learner_add(learner, &picture, &name); break;
    case 3:
    case 4:
    case 5:
    case 6: br_learner_add_encoded(learner, code, &name); break;
    case 7:
    case 8: steps += br_learner_step(learner, draw(2) ? &progress : nullptr) == BR_OK; break;
    case 9:
    case 10: br_learner_end(learner); break;
    case 11: br_learner_forget(learner, &name); break;
    case 12: br_learner_forget_sample(learner, int64_t(draw(20)) - 2); break;
    case 13: br_learner_rename(learner, &name, &other); break;
    case 14: br_learner_predict_encoded(learner, code, &answer); break;
    case 15: br_learner_predict(learner, &picture, &answer); break;
    case 16: states += br_learner_read(learner, read_bytes, &given, given.size) == BR_OK; break;
    case 17: br_learner_save(learner, &kSlots); break;
    case 18: draw(2) ? br_learner_load(learner, &kSlots) : br_learner_rollback(learner, &kSlots); break;
    default:
      br_learner_hash(learner, hash);
      br_learner_class(learner, draw(4), &class_name, &pictures, &stored);
      if (draw(20) == 0) br_learner_clear(learner);
  }
  free(given.at);
}

}  // namespace

int main(int count, char** argument) {
  if (count != 5) return 2;
  const Bytes model = read_file(argument[1]), state = read_file(argument[2]);
  random_state = strtoull(argument[4], nullptr, 10);
  for (Bytes& place : allocator) place = room(kPlace);
  const Bytes whole = copy(model);
  unsigned long opened = 0, inputs = strtoul(argument[3], nullptr, 10);
  for (unsigned long done = 0; done < inputs;) {
    const bool spoiled = draw(3) > 0;
    Bytes changed = copy(whole), memory;
    if (spoiled) spoil(changed, draw(2) ? 2000 : kMaxBytes), seal_model(changed);
    br_learner* learner = open(changed, &memory);
    opened += learner != nullptr;
    ++done;
    const Bytes code = room(size_t(br_learner_encoded_bytes(learner)) + 8);
    for (uint32_t calls = learner ? draw(60) : 0; calls && done < inputs; --calls, ++done)
      one_call(learner, state, reinterpret_cast<uint64_t*>(code.at));
    free(code.at);
    free(memory.at);
    free(changed.at);
  }
  printf("%lu inputs, %lu models opened, %lu steps learned, %lu states read\n", inputs, opened, steps, states);
  return 0;
}
