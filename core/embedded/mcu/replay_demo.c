/* The replay learner on a microcontroller: two experiences of a few training steps each, saved and loaded in between,
 * then answers. The tests compare the output with that of Python.
 */
#include <string.h>

#include "bitreplay_learner.h"
#include "board.h"
#include "pictures.h" /* the pictures, and how much memory the learner is given */

enum { SLOT_BYTES = 96 * 1024 };

extern const unsigned char model[], model_end[];
static unsigned char memory[LEARNER_BYTES] __attribute__((aligned(64)));
static unsigned char flash[2][SLOT_BYTES] __attribute__((section(".nvm"))); /* outside of the 512 KB */

static int read_slot(void* context, uint32_t slot, size_t offset, void* bytes, size_t size) {
  (void)context;
  memcpy(bytes, flash[slot] + offset, size);
  return 0;
}

static int erase_slot(void* context, uint32_t slot, size_t size) {
  (void)context;
  memset(flash[slot], 0xFF, size);
  return 0;
}

static int write_slot(void* context, uint32_t slot, size_t offset, const void* bytes, size_t size) {
  (void)context;
  memcpy(flash[slot] + offset, bytes, size);
  return 0;
}

static int sync_slot(void* context, uint32_t slot) {
  (void)context;
  (void)slot;
  return 0;
}

static const br_slots slots = {0, SLOT_BYTES, read_slot, erase_slot, write_slot, sync_slot};

static void say_number(const char* what, uint64_t value) {
  char text[24], *at = text + sizeof text - 1;
  *at = 0;
  *--at = '\n';
  do *--at = (char)('0' + value % 10);
  while (value /= 10);
  board_say(what);
  board_say(" ");
  board_say(at);
}

static void need(int code, const char* what) {
  if (!code) return;
  board_say(what);
  board_say(": ");
  board_say(br_error_text(code));
  board_say("\n");
  board_end(2);
}

static void say_hash(br_learner* learner, const char* what) {
  char hash[66];
  need(br_learner_hash(learner, hash), "hash");
  hash[64] = '\n';
  hash[65] = 0;
  board_say(what);
  board_say(" ");
  board_say(hash);
}

static void learn(br_learner* learner, int first, int last) {
  br_progress progress;
  need(br_learner_begin(learner), "begin");
  for (int i = first; i < last; ++i) {
    const br_picture picture = {pictures[i], PICTURE_WIDTH, PICTURE_HEIGHT, 3, 0};
    const br_name name = {names[i], strlen(names[i]), 0};
    need(br_learner_add(learner, &picture, &name), "add");
  }
  do {
    const uint64_t start = board_ticks();
    need(br_learner_step(learner, &progress), "step");
    if (progress.done == 2) say_number("ticks_step", board_ticks() - start);
  } while (progress.done < progress.steps);
  need(br_learner_end(learner), "end");
}

int main(void) {
  const br_learner_options options = {.classes = LEARNER_CLASSES, .samples = PICTURES};
  br_learner_memory used;
  br_learner* learner;
  char error[128] = "";
  const int opened = br_learner_open(model, (size_t)(model_end - model), &options, memory, sizeof memory, &learner,
                                     error, sizeof error);
  if (opened) board_say(error), need(opened, "\nopen");
  br_learner_memory_used(learner, &used);
  say_number("memory", used.total);
  say_number("network", used.network);
  say_number("state", used.state);
  say_number("experience", used.experience);
  say_number("work", used.work);
  learn(learner, 0, FIRST);
  say_hash(learner, "first");
  need(br_learner_save(learner, &slots), "save");
  br_learner_clear(learner);
  need(br_learner_load(learner, &slots), "load");
  say_hash(learner, "loaded");
  learn(learner, FIRST, PICTURES);
  say_hash(learner, "learned");
  say_number("steps", (uint64_t)br_learner_steps(learner));
  for (int i = 0; i < PICTURES; ++i) {
    const br_picture picture = {pictures[i], PICTURE_WIDTH, PICTURE_HEIGHT, 3, 0};
    br_answer answer = {0};
    br_name name;
    const uint64_t start = board_ticks();
    need(br_learner_predict(learner, &picture, &answer), "predict");
    if (i == 0) say_number("ticks_predict", board_ticks() - start);
    need(br_learner_class(learner, answer.label, &name, 0, 0), "class");
    board_say("answer ");
    board_say(names[PICTURES + answer.label]);
    board_say("\n");
  }
  board_say("done\n");
  return 0;
}
