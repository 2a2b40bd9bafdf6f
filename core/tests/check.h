/* What the tests share: a condition that ends the program, files, learners in memory of their own. C99. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bitreplay_learner.h"

#define LEARNER_BYTES (4 << 20)
#define CHECK(condition) check((condition) != 0, __FILE__, __LINE__, #condition)

static void check(int holds, const char* file, int line, const char* condition) {
  if (holds) return;
  fprintf(stderr, "%s:%d: %s does not hold\n", file, line, condition);
  exit(1);
}

static void* aligned_memory(size_t size) {
  uint8_t* const memory = calloc(size + 64, 1);
  CHECK(memory);
  return memory + (64 - (uintptr_t)memory % 64);
}

struct bytes {
  uint8_t* at;
  size_t size;
};

static struct bytes read_file(const char* path) {
  FILE* const file = fopen(path, "rb");
  if (!file) fprintf(stderr, "%s cannot be read\n", path);
  CHECK(file && !fseek(file, 0, SEEK_END));
  const struct bytes read = {aligned_memory((size_t)ftell(file)), (size_t)ftell(file)};
  rewind(file);
  CHECK(fread(read.at, 1, read.size, file) == read.size);
  fclose(file);
  return read;
}

static int read_bytes(void* context, size_t offset, void* bytes, size_t size) {
  const struct bytes* const from = context;
  if (offset > from->size || size > from->size - offset) return 1;
  memcpy(bytes, from->at + offset, size);
  return 0;
}

static int write_bytes(void* context, size_t offset, const void* bytes, size_t size) {
  struct bytes* const to = context;
  if (offset > to->size || size > to->size - offset) return 1;
  memcpy(to->at + offset, bytes, size);
  return 0;
}

static br_learner* open_learner(struct bytes model) {
  br_learner* learner;
  char error[256];
  const int failed =
      br_learner_open(model.at, model.size, NULL, aligned_memory(LEARNER_BYTES), LEARNER_BYTES, &learner, error, 256);
  if (failed) fprintf(stderr, "%s\n", error);
  CHECK(!failed);
  return learner;
}

static struct bytes state_of(br_learner* learner) {
  const size_t size = br_learner_state_bytes(learner);
  struct bytes state = {aligned_memory(size), size};
  CHECK(br_learner_write(learner, write_bytes, &state) == BR_OK);
  return state;
}

static int read_state(br_learner* learner, struct bytes state) {
  return br_learner_read(learner, read_bytes, &state, state.size);
}
