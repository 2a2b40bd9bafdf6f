/* The paper's learner on a device without Python: stored binary latents are replayed with new ones, step by step.
 * `bitreplay` reads and writes the same state files.
 *
 *   replay MODEL STATE learn LABEL PICTURE.ppm...    one experience of one class; creates STATE if needed
 *   replay MODEL STATE predict PICTURE.ppm...
 *   replay MODEL STATE hash
 *
 * MODEL is model.bin of `bitreplay export --strategy replay`. Pictures are binary PPM (P6) of any size.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bitreplay_learner.h"

static void stop(const char* what, const char* why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

static void need(int code, const char* what) {
  if (code) stop(what, br_error_text(code));
}

typedef struct content {
  unsigned char* bytes; /* aligned to 64; null if there is no such file */
  size_t size;
} content;

static content read_file(const char* path) {
  content file_content = {NULL, 0};
  FILE* file = fopen(path, "rb");
  if (!file) return file_content;
  const long length = !fseek(file, 0, SEEK_END) ? ftell(file) : -1;
  if (length < 0 || length > 1L << 30) stop(path, "cannot be read as a file of at most 1 GiB");
  rewind(file);
  file_content.size = (size_t)length;
  file_content.bytes = aligned_alloc(64, (file_content.size + 64) / 64 * 64);
  if (!file_content.bytes || fread(file_content.bytes, 1, file_content.size, file) != file_content.size)
    stop(path, "cannot be read");
  fclose(file);
  return file_content;
}

/* Reads a P6 picture. The caller frees `file`. */
static br_picture read_picture(const char* path, content* file) {
  unsigned width, height, max_value;
  int header = 0;
  char start[64] = "";
  *file = read_file(path);
  if (!file->bytes) stop(path, "cannot be read");
  memcpy(start, file->bytes, file->size < 63 ? file->size : 63);
  if (sscanf(start, "P6 %5u %5u %3u%n", &width, &height, &max_value, &header) != 3 || max_value != 255 ||
      (size_t)width * height * 3 != file->size - (size_t)header - 1)
    stop(path, "is not a binary PPM of three bytes a pixel");
  const br_picture picture = {file->bytes + header + 1, width, height, 3, 0};
  return picture;
}

static int read_bytes(void* context, size_t offset, void* bytes, size_t size) {
  const content* from = context;
  if (offset > from->size || size > from->size - offset) return 1;
  memcpy(bytes, from->bytes + offset, size);
  return 0;
}

static int write_bytes(void* context, size_t offset, const void* bytes, size_t size) {
  (void)offset;
  return fwrite(bytes, 1, size, context) != size;
}

/* examples/learn.c shows how a file survives a loss of power; on flash, br_learner_save does. */
static void save(br_learner* learner, const char* path) {
  FILE* file = fopen(path, "wb");
  if (!file) stop(path, "cannot be written");
  need(br_learner_write(learner, write_bytes, file), path);
  if (fclose(file)) stop(path, "cannot be written");
}

static void learn(br_learner* learner, const char* label, int count, char** paths) {
  const br_name name = {label, strlen(label), 0};
  br_progress progress;
  need(br_learner_begin(learner), "learn");
  for (int i = 0; i < count; ++i) {
    content file;
    const br_picture picture = read_picture(paths[i], &file);
    need(br_learner_add(learner, &picture, &name), paths[i]);
    free(file.bytes);
  }
  do need(br_learner_step(learner, &progress), "learn"); /* between two steps a device may do other things */
  while (progress.done < progress.steps);
  need(br_learner_end(learner), "learn");
}

static void predict(br_learner* learner, int count, char** paths) {
  for (int i = 0; i < count; ++i) {
    content file;
    br_name name;
    br_answer answer = {0};
    const br_picture picture = read_picture(paths[i], &file);
    need(br_learner_predict(learner, &picture, &answer), paths[i]);
    need(br_learner_class(learner, answer.label, &name, NULL, NULL), "predict");
    if (name.text) printf("%s: %.*s\n", paths[i], (int)name.length, name.text);
    else printf("%s: %lld\n", paths[i], (long long)name.number);
    free(file.bytes);
  }
}

int main(int count, char** argument) {
  if (count < 4) {
    fprintf(stderr, "usage: replay MODEL STATE learn LABEL PICTURE... | predict PICTURE... | hash\n");
    return 2;
  }
  const char* const command = argument[3];
  char error[256] = "", hash[65];
  const content model = read_file(argument[1]);
  content state = read_file(argument[2]);
  const br_learner_options options = {.classes = 16, .name_bytes = 200, .samples = 256};
  br_learner_memory taken;
  br_learner* learner;
  if (!model.bytes) stop(argument[1], "cannot be read");
  if (br_learner_plan(model.bytes, model.size, &options, &taken, error, sizeof error)) stop(argument[1], error);
  void* const memory = aligned_alloc(64, taken.total);
  if (!memory) stop(argument[1], "there is not enough memory");
  if (br_learner_open(model.bytes, model.size, &options, memory, taken.total, &learner, error, sizeof error))
    stop(argument[1], error);
  if (state.bytes) need(br_learner_read(learner, read_bytes, &state, state.size), argument[2]);

  if (!strcmp(command, "learn") && count > 5) {
    learn(learner, argument[4], count - 5, argument + 5);
    save(learner, argument[2]);
  } else if (!strcmp(command, "predict")) {
    predict(learner, count - 4, argument + 4);
  } else if (strcmp(command, "hash")) {
    stop(command, "expected learn, predict or hash");
  }
  need(br_learner_hash(learner, hash), "hash");
  printf("%s\n", hash);
  free(state.bytes), free(memory), free(model.bytes);
  return 0;
}
