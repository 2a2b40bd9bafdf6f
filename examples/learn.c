/* Learns to classify pictures on a device without Python. `bitreplay` reads and writes the same state files.
 *
 *   learn MODEL STATE learn LABEL PICTURE.ppm...     one experience of one class; creates STATE if needed
 *   learn MODEL STATE predict PICTURE.ppm...
 *   learn MODEL STATE forget LABEL
 *   learn MODEL STATE hash
 *
 * MODEL is model.bin of `bitreplay export`. Pictures are binary PPM (P6) of any size.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bitreplay_learner.h"

static void stop(const char* what, const char* why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

static void need(int code, const char* what) {
  if (code) stop(what, br_error_text(code));
}

/* Returns the bytes of a file, aligned to 64, which the caller frees; null if there is no such file. */
static void* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (!file) return NULL;
  long length = !fseek(file, 0, SEEK_END) ? ftell(file) : -1;
  if (length < 0 || length > 1L << 30) stop(path, "cannot be read as a file of at most 1 GiB");
  rewind(file);
  void* content = aligned_alloc(64, ((size_t)length + 64) / 64 * 64);
  if (!content || fread(content, 1, (size_t)length, file) != (size_t)length) stop(path, "cannot be read");
  fclose(file);
  *size = (size_t)length;
  return content;
}

/* Reads a P6 picture. The caller frees `content`. */
static br_picture read_picture(const char* path, void** content) {
  size_t size = 0;
  unsigned width, height, max_value;
  int header = 0;
  *content = read_file(path, &size);
  if (!*content) stop(path, "cannot be read");
  char start[64] = "";
  memcpy(start, *content, size < 63 ? size : 63);
  if (sscanf(start, "P6 %5u %5u %3u%n", &width, &height, &max_value, &header) != 3 || max_value != 255 ||
      (size_t)width * height * 3 != size - (size_t)header - 1)
    stop(path, "is not a binary PPM of three bytes a pixel");
  const br_picture picture = {(const uint8_t*)*content + header + 1, width, height, 3, 0};
  return picture;
}

static br_name name_of(const char* text) {
  const br_name name = {text, strlen(text), 0};
  return name;
}

typedef struct source {
  const unsigned char* bytes;
  size_t size;
} source;

static int read_bytes(void* context, size_t offset, void* bytes, size_t size) {
  const source* from = context;
  if (offset > from->size || size > from->size - offset) return 1;
  memcpy(bytes, from->bytes + offset, size);
  return 0;
}

static int write_bytes(void* context, size_t offset, const void* bytes, size_t size) {
  (void)offset;
  return fwrite(bytes, 1, size, context) != size;
}

/* Writes the new state beside the old one, syncs, and renames it: if power fails, the old or the new one is there. */
static void save(br_learner* learner, const char* path) {
  char beside[4096], before[4096];
  if (snprintf(beside, sizeof beside, "%s.part", path) >= (int)sizeof beside) stop(path, "the name is too long");
  snprintf(before, sizeof before, "%s.before", path);
  FILE* file = fopen(beside, "wb");
  if (!file) stop(beside, "cannot be written");
  need(br_learner_write(learner, write_bytes, file), beside);
  if (fflush(file) || fsync(fileno(file)) || fclose(file)) stop(beside, "cannot be written");
  unlink(before);
  if (link(path, before)) { /* the first state has no predecessor */
  }
  if (rename(beside, path)) stop(path, "cannot be written");
}

static void learn(br_learner* learner, const char* label, int count, char** paths) {
  const br_name name = name_of(label);
  need(br_learner_begin(learner), "learn");
  for (int i = 0; i < count; ++i) {
    void* content;
    const br_picture picture = read_picture(paths[i], &content);
    need(br_learner_add(learner, &picture, &name), paths[i]);
    free(content);
  }
  need(br_learner_end(learner), "learn");
}

static void predict(br_learner* learner, int count, char** paths) {
  for (int i = 0; i < count; ++i) {
    void* content;
    br_name name;
    br_answer answer = {.share = br_learner_share(learner)}; /* unknown="..." when the model was exported */
    const br_picture picture = read_picture(paths[i], &content);
    need(br_learner_predict(learner, &picture, &answer), paths[i]);
    need(br_learner_class(learner, answer.label, &name, NULL, NULL), "predict");
    if (answer.unknown) printf("%s: unknown\n", paths[i]);
    else if (name.text) printf("%s: %.*s\n", paths[i], (int)name.length, name.text);
    else printf("%s: %lld\n", paths[i], (long long)name.number);
    free(content);
  }
}

int main(int count, char** argument) {
  if (count < 4) {
    fprintf(stderr, "usage: learn MODEL STATE learn LABEL PICTURE... | predict PICTURE... | forget LABEL | hash\n");
    return 2;
  }
  const char *const state_path = argument[2], *const command = argument[3];
  char error[256] = "";
  size_t model_size, state_size = 0;
  void* model = read_file(argument[1], &model_size);
  if (!model) stop(argument[1], "cannot be read");
  const br_learner_options options = {.classes = 256, .name_bytes = 800, .factor = 1};
  br_learner_memory taken;
  br_learner* learner;
  if (br_learner_plan(model, model_size, &options, &taken, error, sizeof error)) stop(argument[1], error);
  void* memory = aligned_alloc(64, taken.total);
  if (!memory) stop(argument[1], "there is not enough memory");
  if (br_learner_open(model, model_size, &options, memory, taken.total, &learner, error, sizeof error))
    stop(argument[1], error);

  void* state = read_file(state_path, &state_size);
  source from = {state, state_size};
  if (state) need(br_learner_read(learner, read_bytes, &from, state_size), state_path);

  if (!strcmp(command, "learn") && count > 5) {
    learn(learner, argument[4], count - 5, argument + 5);
    save(learner, state_path);
  } else if (!strcmp(command, "forget") && count == 5) {
    const br_name name = name_of(argument[4]);
    need(br_learner_forget(learner, &name), argument[4]);
    save(learner, state_path);
    save(learner, state_path); /* a second time, so that the previous state is overwritten too */
  } else if (!strcmp(command, "predict")) {
    predict(learner, count - 4, argument + 4);
  } else if (strcmp(command, "hash")) {
    stop(command, "expected learn, predict, forget or hash");
  }
  char hash[65];
  need(br_learner_hash(learner, hash), "hash");
  printf("%s\n", hash);
  free(state), free(memory), free(model);
  return 0;
}
