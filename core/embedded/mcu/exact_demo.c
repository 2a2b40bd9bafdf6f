/* The exact learner on a microcontroller: learns three classes, saves, predicts, loses power in the middle of a save,
 * restarts, forgets a class.
 *
 * The flash for states is emulated by memory outside of the 512 KB: erasing sets bits, writing clears them. A loss of
 * power is a reset in the middle of a write. The tests compare the output with that of Python.
 */
#include <string.h>

#include "bitreplay_learner.h"
#include "board.h"
#include "pictures.h" /* the pictures, and how much memory the learner is given */

enum { SLOT_BYTES = 96 * 1024 };

extern const unsigned char model[], model_end[];
static unsigned char memory[LEARNER_BYTES] __attribute__((aligned(64)));
static struct {
  unsigned char slots[2][SLOT_BYTES];
  uint32_t stage, magic;
} nvm __attribute__((section(".nvm")));
static uint32_t writes_left; /* before the power fails; 0: it does not */

static int read_slot(void* context, uint32_t slot, size_t offset, void* bytes, size_t size) {
  (void)context;
  memcpy(bytes, nvm.slots[slot] + offset, size);
  return 0;
}

static int erase_slot(void* context, uint32_t slot, size_t size) {
  (void)context;
  memset(nvm.slots[slot], 0xFF, size);
  return 0;
}

static int write_slot(void* context, uint32_t slot, size_t offset, const void* bytes, size_t size) {
  const unsigned char* from = bytes;
  (void)context;
  for (size_t i = 0; i < size; ++i) {
    if (writes_left && i == size / 2 && --writes_left == 0) board_reset();
    nvm.slots[slot][offset + i] &= from[i];
  }
  return memcmp(nvm.slots[slot] + offset, bytes, size) != 0;
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

static br_picture picture_at(int number) {
  const br_picture picture = {pictures[number], PICTURE_WIDTH, PICTURE_HEIGHT, 3, 0};
  return picture;
}

static br_name name_of(const char* text) {
  const br_name name = {text, strlen(text), 0};
  return name;
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
  need(br_learner_begin(learner), "begin");
  for (int i = first; i < last; ++i) {
    const br_picture picture = picture_at(i);
    const br_name name = name_of(names[i]);
    const uint64_t start = board_ticks();
    need(br_learner_add(learner, &picture, &name), "add");
    if (i == first) say_number("ticks_learn", board_ticks() - start);
  }
  need(br_learner_end(learner), "end");
}

static void predict(br_learner* learner) {
  uint64_t start = board_ticks();
  need(br_learner_ready(learner), "ready");
  say_number("ticks_ready", board_ticks() - start);
  for (int i = 0; i < PICTURES; ++i) {
    const br_picture picture = picture_at(i);
    int64_t scores[8];
    br_answer answer = {0, scores, 0, 0, 0};
    br_name name;
    start = board_ticks();
    need(br_learner_predict(learner, &picture, &answer), "predict");
    if (i == 0) say_number("ticks_predict", board_ticks() - start);
    need(br_learner_class(learner, answer.label, &name, 0, 0), "class");
    board_say("answer ");
    board_say(names[PICTURES + answer.label]);
    board_say("\n");
  }
}

int main(void) {
  br_learner* learner;
  br_learner_memory used;
  char error[128] = "";
  const br_learner_options options = {.classes = LEARNER_CLASSES};
  const uint32_t fresh = nvm.magic != 0xB17B17;
  const int opened = br_learner_open(model, (size_t)(model_end - model), &options, memory, sizeof memory, &learner,
                                     error, sizeof error);
  if (opened) board_say(error), need(opened, "\nopen");
  br_learner_memory_used(learner, &used);
  if (fresh) {
    memset(&nvm, 0xFF, sizeof nvm);
    nvm.stage = 0;
    nvm.magic = 0xB17B17;
    say_number("memory", used.total);
    say_number("network", used.network);
    say_number("state", used.state);
    say_number("answers", used.answers);
    say_number("work", used.work);
    learn(learner, 0, FIRST);
    need(br_learner_save(learner, &slots), "save");
    say_hash(learner, "first");
  } else {
    need(br_learner_load(learner, &slots), "load");
    say_hash(learner, "back");
  }
  if (nvm.stage < CUTS) { /* the power fails later each time */
    learn(learner, FIRST, PICTURES);
    writes_left = 1 + nvm.stage * CUT_STEP;
    ++nvm.stage;
    need(br_learner_save(learner, &slots), "save");
    board_say("the power did not fail\n");
    return 1;
  }
  learn(learner, FIRST, PICTURES);
  need(br_learner_save(learner, &slots), "save");
  say_hash(learner, "learned");
  predict(learner);
  {
    const br_name name = name_of(names[0]);
    need(br_learner_forget(learner, &name), "forget");
  }
  need(br_learner_save(learner, &slots), "save");
  say_hash(learner, "forgotten");
  br_learner_clear(learner);
  need(br_learner_load(learner, &slots), "load");
  say_hash(learner, "loaded");
  board_say("done\n");
  return 0;
}
