#include "machine/operation.h"

#include <cstring>

#include "machine/operation_list.h"

namespace bitreplay {

#define BR_ADDRESS(operation) &operation,
static const Operation* const kOperations[] = {BR_OPERATIONS(BR_ADDRESS)};
#undef BR_ADDRESS

const Operation* operation_of_code(uint32_t code) {
  for (const Operation* operation : kOperations)
    if (operation->code == code) return operation;
  return nullptr;
}

int (*run_of(const Kernels& kernels, const Operation& operation))(const Call&) {
  for (const Loop* loop = kernels.loops ? *kernels.loops : nullptr; loop && loop->operation; ++loop)
    if (loop->operation == &operation) return loop->run;
  return operation.run;
}

const Operation* operation_at(size_t index) {
  return index < sizeof kOperations / sizeof *kOperations ? kOperations[index] : nullptr;
}

static const char* next_word(const char* text, int* length) {
  while (*text == ' ') ++text;
  *length = int(strcspn(text, " "));
  return *length ? text : nullptr;
}

int words_in(const char* text) {
  int count = 0, length;
  while ((text = next_word(text, &length))) {
    text += length;
    ++count;
  }
  return count;
}

int position_in(const char* text, const char* word) {
  int length;
  for (int at = 0; (text = next_word(text, &length)); text += length, ++at)
    if (length == int(strlen(word)) && !memcmp(text, word, size_t(length))) return at;
  return -1;
}

int roles_of(const Operation& operation, Role roles[kMaxRoles]) {
  int count = 0, length;
  for (const char* text = operation.reads; (text = next_word(text, &length)); text += length) {
    bool optional = text[length - 1] == '?';
    roles[count++] = {text, length - optional, optional, false};
  }
  int reads = count;
  for (const char* text = operation.writes; (text = next_word(text, &length)); text += length) {
    bool optional = text[length - 1] == '?', known = false;
    for (int i = 0; i < reads; ++i) {
      if (roles[i].length == length - optional && !memcmp(roles[i].name, text, size_t(roles[i].length)))
        known = roles[i].written = true;
    }
    if (!known) roles[count++] = {text, length - optional, optional, true};
  }
  return count;
}

}  // namespace bitreplay

int br_operation(size_t index, br_operation_info* info) {
  const bitreplay::Operation* operation = bitreplay::operation_at(index);
  if (!operation || !info) return 0;
  *info = {operation->name, operation->reads, operation->writes, operation->attributes, operation->code};
  return 1;
}
