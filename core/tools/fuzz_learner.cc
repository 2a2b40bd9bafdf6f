// Hostile inputs for the learner in C: models, states and call orders. To be built with sanitizers, which end the
// process.
//
//   fuzz_learner MODEL STATE BASE INPUTS SEED                BASE: what STATE began as
//
// A changed model or state gets checksums that fit, so that what lies behind them is reached. Prints how many were
// taken.
#include <cstdio>
#include <cstdlib>

#include "bitreplay_learner.h"
#include "hostile.h"

using namespace hostile;

namespace {

br_learner* open(const Bytes& model, Bytes* memory) {
  static const size_t enough = 3 << 20;
  const br_learner_options options = {1 + draw(6), 1 + draw(40), 1 + draw(20), draw(2), 1024, draw(2), 1 + draw(40), 0};
  br_learner* learner = nullptr;
  char error[64];
  *memory = room(draw(10) ? enough : draw(1 << 18));
  br_learner_open(model.at, model.size, &options, memory->at, memory->size, &learner, error, sizeof error);
  return learner;
}

void one_call(br_learner* learner, const Bytes& state, const Bytes& begun, int8_t* x) {
  char text[8], hash[65];
  uint8_t pixels[16 * 16 * 4];
  const br_name name = any_name(text), other = any_name(text);
  const uint32_t features = br_learner_encoded_bytes(learner);
  for (uint32_t i = 0; i < features; ++i) x[i] = int8_t(draw(3) ? int(draw(255)) - 127 : 127);
  for (uint8_t& pixel : pixels) pixel = uint8_t(draw(256));
  const br_picture picture = {pixels, 1 + draw(16), 1 + draw(16), 3 + draw(2), 0};
  int64_t scores[8];
  int32_t probabilities[8];
  br_answer answer = {0, draw(2) ? scores : nullptr, draw(2) ? probabilities : nullptr, draw(2) ? draw(70000) : 0, 0};
  Bytes given = copy(draw(4) ? state : begun);
  Bytes base = copy(draw(3) ? begun : state);
  if (draw(2)) spoil(given, draw(2) ? 1200 : kMaxBytes), seal_state(given);
  if (draw(4) == 0) spoil(base, draw(2) ? 1200 : kMaxBytes), seal_state(base);
  switch (draw(20)) {
    case 0: br_learner_begin(learner); break;
    case 1: br_learner_end(learner); break;
    case 2: br_learner_add(learner, &picture, &name); break;
    case 3:
    case 4: br_learner_add_encoded(learner, x, &name); break;
    case 5: br_learner_unlearn_encoded(learner, x, &name); break;
    case 6: br_learner_unlearn(learner, &picture, &name); break;
    case 7: br_learner_forget(learner, &name); break;
    case 8: br_learner_rename(learner, &name, &other); break;
    case 9: br_learner_predict_encoded(learner, x, &answer); break;
    case 10: br_learner_predict(learner, &picture, &answer); break;
    case 11: br_learner_read(learner, read_bytes, &given, given.size); break;
    case 12: br_learner_merge(learner, read_bytes, &given, given.size); break;
    case 13: br_learner_save(learner, &kSlots); break;
    case 14: draw(2) ? br_learner_load(learner, &kSlots) : br_learner_rollback(learner, &kSlots); break;
    case 15: br_learner_share(learner); break;
    case 16: br_learner_merge_since(learner, read_bytes, &given, given.size, read_bytes, &base, base.size); break;
    case 17: br_learner_take_out(learner, read_bytes, &given, given.size); break;
    case 18: br_learner_take_out_since(learner, read_bytes, &given, given.size, read_bytes, &base, base.size); break;
    default: br_learner_hash(learner, hash);
  }
  free(given.at);
  free(base.at);
}

}  // namespace

int main(int count, char** argument) {
  if (count != 6) return 2;
  const Bytes model = read_file(argument[1]), state = read_file(argument[2]), begun = read_file(argument[3]);
  random_state = strtoull(argument[5], nullptr, 10);
  for (Bytes& place : allocator) place = room(kPlace);
  int8_t* const x = reinterpret_cast<int8_t*>(room(8192).at);
  const Bytes whole = copy(model);
  unsigned long opened = 0, inputs = strtoul(argument[4], nullptr, 10);
  for (unsigned long done = 0; done < inputs;) {
    const bool spoiled = draw(3) > 0;
    Bytes changed = copy(whole), memory;
    if (spoiled) spoil(changed, draw(2) ? 12000 : kMaxBytes), seal_model(changed);
    br_learner* learner = open(changed, &memory);
    opened += learner != nullptr;
    ++done;
    for (uint32_t calls = learner ? draw(60) : 0; calls && done < inputs; --calls, ++done)
      one_call(learner, state, begun, x);
    free(memory.at);
    free(changed.at);
  }
  printf("%lu inputs, %lu models opened\n", inputs, opened);
  return 0;
}
