// Random sequences of calls of the learner in C, compared with a list of what it should know. To be built with
// sanitizers, which end the process.
//
//   fuzz_sequences MODEL SEQUENCES FIRST_SEED    sequence k has the seed FIRST_SEED + k, so that runs can be continued
//
// Pictures come and go, classes are forgotten and renamed, states are merged and taken out, saved, loaded, asked. What
// was learned and not forgotten must be unlearned when it is asked for; a call that is refused changes nothing; every
// state can be written, verified, read by another learner, and has the same hash there; probabilities add up to one.
// What breaks one of these prints the seed and aborts.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "bitreplay_learner.h"
#include "hostile.h"

using namespace hostile;

namespace {

unsigned long long seed;

void need(bool condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "seed %llu: %s\n", seed, what);
  abort();
}

struct Sample {
  std::vector<int8_t> x;
  std::string name;
};
using Diary = std::vector<Sample>;

br_name name_of(const std::string& name) { return {name.data(), name.size(), 0}; }

struct Device {
  Bytes memory;
  br_learner* learner = nullptr;
  Diary diary;

  explicit Device(const Bytes& model) {
    const br_learner_options options = {8, 16, 64, 0, 1024, 0, 256, 0};
    char error[256] = "";
    memory = room(1 << 20);
    const int failed =
        br_learner_open(model.at, model.size, &options, memory.at, memory.size, &learner, error, sizeof error);
    need(!failed, error);
  }
  ~Device() { free(memory.at); }
  Device(const Device&) = delete;

  std::string hash() const {
    char found[65];
    need(br_learner_hash(learner, found) == BR_OK, "a hash");
    return found;
  }
  std::vector<uint8_t> bytes() const {
    std::vector<uint8_t> found(br_learner_state_bytes(learner));
    const auto write = [](void* to, size_t offset, const void* from, size_t size) {
      auto& all = *static_cast<std::vector<uint8_t>*>(to);
      if (offset + size > all.size()) return 1;
      memcpy(all.data() + offset, from, size);
      return 0;
    };
    need(br_learner_write(learner, write, &found) == BR_OK, "a state is written");
    return found;
  }
};

int read_vector(void* context, size_t offset, void* to, size_t size) {
  const auto& all = *static_cast<std::vector<uint8_t>*>(context);
  if (offset + size > all.size()) abort();
  memcpy(to, all.data() + offset, size);
  return 0;
}

// Features from a narrow range are hard to tell apart; those at the ends fill the bounds.
Sample any_picture(uint32_t features) {
  Sample sample = {std::vector<int8_t>(features), std::string(1, char('a' + draw(4)))};
  const uint32_t kind = draw(4);
  for (int8_t& x : sample.x)
    x = int8_t(kind == 0   ? (draw(2) ? 127 : -127)
               : kind == 1 ? int(draw(3)) - 1
               : kind == 2 ? 127
                           : int(draw(255)) - 127);
  return sample;
}

void learn(Device& device) {
  need(br_learner_begin(device.learner) == BR_OK, "an experience begins");
  for (uint32_t count = 1 + draw(4); count; --count) {
    Sample sample = any_picture(br_learner_encoded_bytes(device.learner));
    const br_name name = name_of(sample.name);
    need(br_learner_add_encoded(device.learner, sample.x.data(), &name) == BR_OK, "a picture is learned");
    device.diary.push_back(sample);
  }
  need(br_learner_end(device.learner) == BR_OK, "an experience ends");
}

void unlearn_at(Device& device, size_t at) {
  const Sample sample = device.diary[at];
  const br_name name = name_of(sample.name);
  need(br_learner_unlearn_encoded(device.learner, sample.x.data(), &name) == BR_OK, "what was learned is unlearned");
  device.diary.erase(device.diary.begin() + long(at));
}

void forget(Device& device) {
  const std::string gone(1, char('a' + draw(4)));
  const br_name name = name_of(gone);
  bool there = false;
  for (const Sample& sample : device.diary) there = there || sample.name == gone;
  need((br_learner_forget(device.learner, &name) == BR_OK) == there, "a class that is known is forgotten");
  for (size_t at = device.diary.size(); at-- > 0;)
    if (device.diary[at].name == gone) device.diary.erase(device.diary.begin() + long(at));
}

void rename_one(Device& device) {
  const std::string from(1, char('a' + draw(4))), to(1, char('a' + draw(4)));
  const br_name old = name_of(from), now = name_of(to);
  if (br_learner_rename(device.learner, &old, &now) != BR_OK || from == to) return;
  for (Sample& sample : device.diary)
    if (sample.name == from) sample.name = to;
}

void merge(Device& device, Device& other) {
  std::vector<uint8_t> state = other.bytes();
  need(br_learner_merge(device.learner, read_vector, &state, state.size()) == BR_OK, "a state is merged");
  device.diary.insert(device.diary.end(), other.diary.begin(), other.diary.end());
}

// What was merged last and has not been touched since: bit for bit as before the merge.
void merge_and_take_out(Device& device, Device& other) {
  const std::string before = device.hash();
  std::vector<uint8_t> state = other.bytes();
  need(br_learner_merge(device.learner, read_vector, &state, state.size()) == BR_OK, "a state is merged");
  need(br_learner_take_out(device.learner, read_vector, &state, state.size()) == BR_OK, "what was merged is taken out");
  need(device.hash() == before, "merged and taken out is as before");
}

void stranger(Device& device) {
  const Sample sample = any_picture(br_learner_encoded_bytes(device.learner));
  const br_name name = name_of(sample.name);
  for (const Sample& known : device.diary)
    if (known.name == sample.name && known.x == sample.x) return;
  const std::string before = device.hash();
  if (br_learner_unlearn_encoded(device.learner, sample.x.data(), &name) != BR_OK) {
    need(device.hash() == before, "what is refused changes nothing");
    return;
  }
  // The sums cannot tell: it is learned again, and all is as it was.
  need(br_learner_begin(device.learner) == BR_OK, "an experience begins");
  need(br_learner_add_encoded(device.learner, sample.x.data(), &name) == BR_OK, "a picture is learned");
  need(br_learner_end(device.learner) == BR_OK, "an experience ends");
  need(device.hash() == before || device.diary.empty(), "unlearned and learned again is as before");
}

void ask(Device& device) {
  const Sample sample = any_picture(br_learner_encoded_bytes(device.learner));
  int64_t scores[8];
  int32_t probabilities[8];
  br_answer answer = {0, scores, probabilities, draw(2) ? BR_SHARE(0.05) : 0, 0};
  const int failed = br_learner_predict_encoded(device.learner, sample.x.data(), &answer);
  if (device.diary.empty()) return need(failed == BR_NOTHING_LEARNED, "nothing is known");
  need(!failed && answer.label < br_learner_classes(device.learner), "an answer");
  int64_t sum = 0;
  for (uint32_t c = 0; c < br_learner_classes(device.learner); ++c) {
    need(probabilities[c] >= 0, "a probability");
    sum += probabilities[c];
  }
  need(sum > (1 << 30) - 64 && sum < (1 << 30) + 64, "probabilities add up to one");
}

void round_trip(Device& device, Device& other) {
  std::vector<uint8_t> state = device.bytes();
  need(br_learner_verify(other.learner, read_vector, &state, state.size()) == BR_OK, "a state is verified");
  need(br_learner_read(device.learner, read_vector, &state, state.size()) == BR_OK, "a state is read");
  need(device.bytes() == state, "a state is the same again");
}

void spoiled(Device& device) {
  std::vector<uint8_t> state = device.bytes();
  Bytes changed = room(state.size());
  memcpy(changed.at, state.data(), state.size());
  spoil(changed, kMaxBytes);
  seal_state(changed);
  std::vector<uint8_t> given(changed.at, changed.at + changed.size);
  free(changed.at);
  if (given == state) return;
  const bool merged = draw(2);
  const auto call = merged ? br_learner_merge : br_learner_read;
  if (call(device.learner, read_vector, &given, given.size()) != BR_OK) {
    need(device.bytes() == state, "what is refused changes nothing");
    return;
  }
  // Believed: it must be a state like any other, also without one of its classes.
  std::vector<uint8_t> now = device.bytes();
  need(br_learner_verify(device.learner, read_vector, &now, now.size()) == BR_OK,
       "what was believed is written and verified");
  br_name name;
  if (br_learner_class(device.learner, 0, &name, nullptr, nullptr) == BR_OK) {
    const std::string gone(name.text ? name.text : "", name.text ? name.length : 0);
    const br_name first = name.text ? name_of(gone) : name;
    const int failed = br_learner_forget(device.learner, &first);
    need(!failed || failed == BR_IMPOSSIBLE || failed == BR_FULL, "a class of it is forgotten");
    now = device.bytes();
    need(br_learner_verify(device.learner, read_vector, &now, now.size()) == BR_OK,
         "what stays is written and verified");
  }
  need(br_learner_read(device.learner, read_vector, &state, state.size()) == BR_OK, "the state before is read");
}

void live(const Bytes& model, const std::string& nothing) {
  Device device(model), other(model);
  for (uint32_t calls = 4 + draw(16); calls; --calls) {
    switch (draw(12)) {
      case 0:
      case 1:
      case 2: learn(device); break;
      case 3: learn(other); break;
      case 4:
        if (!device.diary.empty()) unlearn_at(device, draw(uint32_t(device.diary.size())));
        break;
      case 5: forget(draw(3) ? device : other); break;
      case 6: rename_one(device); break;
      case 7:
        if (device.diary.size() + other.diary.size() < 100)
          draw(3) ? merge(device, other) : merge_and_take_out(device, other);
        break;
      case 8: stranger(device); break;
      case 9: ask(device); break;
      case 10: round_trip(device, other); break;
      default: spoiled(device);
    }
  }
  round_trip(device, other);
  while (!device.diary.empty()) unlearn_at(device, draw(uint32_t(device.diary.size())));
  need(device.hash() == nothing, "when all is unlearned nothing is known");
}

}  // namespace

int main(int count, char** argument) {
  if (count != 4) return 2;
  const Bytes model = copy(read_file(argument[1]));
  const unsigned long sequences = strtoul(argument[2], nullptr, 10);
  const unsigned long long first = strtoull(argument[3], nullptr, 10);
  const std::string nothing = Device(model).hash();
  for (unsigned long k = 0; k < sequences; ++k) {
    seed = first + k;
    random_state = seed * 2654435761u + 1;
    live(model, nothing);
  }
  printf("%lu sequences from seed %llu\n", sequences, first);
  return 0;
}
