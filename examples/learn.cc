// The learner in C++: a class around the C interface learns to tell two colours apart.
//
//   learn_cc MODEL
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bitreplay_learner.h"

namespace {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, Free>;

Memory aligned(size_t size) { return Memory(std::aligned_alloc(64, (size + 63) / 64 * 64)); }

void need(int code) {
  if (code) throw std::runtime_error(br_error_text(code));
}

class Learner {
 public:
  explicit Learner(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    model_ = aligned(bytes.size());
    bytes.copy(static_cast<char*>(model_.get()), bytes.size());
    br_learner_memory taken;
    char error[256] = "the model cannot be read";
    if (br_learner_plan(model_.get(), bytes.size(), nullptr, &taken, error, sizeof error))
      throw std::runtime_error(error);
    memory_ = aligned(taken.total);
    if (br_learner_open(model_.get(), bytes.size(), nullptr, memory_.get(), taken.total, &learner_, error,
                        sizeof error))
      throw std::runtime_error(error);
  }

  void learn(const std::vector<br_picture>& pictures, std::string_view label) {
    const br_name name = {label.data(), label.size(), 0};
    need(br_learner_begin(learner_));
    for (const br_picture& picture : pictures) need(br_learner_add(learner_, &picture, &name));
    need(br_learner_end(learner_));
  }

  std::string predict(const br_picture& picture) {
    br_answer answer = {};
    br_name name;
    need(br_learner_predict(learner_, &picture, &answer));
    need(br_learner_class(learner_, answer.label, &name, nullptr, nullptr));
    return name.text ? std::string(name.text, name.length) : std::to_string(name.number);
  }

 private:
  Memory model_, memory_;
  br_learner* learner_ = nullptr;
};

}  // namespace

int main(int count, char** argument) {
  if (count != 2) return 2;
  try {
    Learner learner(argument[1]);
    const std::vector<uint8_t> dark(48 * 32 * 3, 20), light(48 * 32 * 3, 230);
    const br_picture night = {dark.data(), 48, 32, 3, 0}, day = {light.data(), 48, 32, 3, 0};
    learner.learn({night}, "night");
    learner.learn({day}, "day");
    std::printf("%s %s\n", learner.predict(night).c_str(), learner.predict(day).c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
