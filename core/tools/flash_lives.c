/* Lives of a learner whose states are in flash (core/device/flash_slots.c), on a model of flash that loses power.
 *
 *   flash_lives MODEL LIVES SEED AREAS BLOCK UNIT SAVES      prints one line of JSON; returns 1 where a state is lost
 *
 * In a life the learner starts, loads, learns, forgets now and then, and saves up to SAVES times, until the power
 * fails: not in the first life, then at each operation of it in turn, then at any. What it loads must be the last
 * state that was saved, or a later one whose save had begun. A name that was forgotten must be nowhere in the flash
 * when the next save is done.
 *
 * The flash refuses to program a unit twice. A program that loses power sets some of its bits; an erase that does
 * has erased some. Bits that were to change then read as they like, each time anew, until their block is erased.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bitreplay_device.h"

enum { CLASSES = 4, ATTEMPTS = 4096, MARKS = 64 };

static uint8_t *cells, *unstable, *programmed; /* programmed: a byte for each unit */
static uint32_t block_bytes, blocks, unit_bytes, *erases;
static int64_t power_left; /* operations; below 0: it does not fail */
static uint64_t operations, seed;
static jmp_buf dark;

static uint64_t draw(void) { /* splitmix64 */
  uint64_t z = seed += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

static void fail(const char* what) {
  printf("%s\n", what);
  exit(1);
}

static int fails_now(void) {
  ++operations;
  return power_left >= 0 && power_left-- == 0;
}

static int read_flash(void* context, uint32_t address, void* bytes, size_t size) {
  uint8_t* to = bytes;
  (void)context;
  if (address + size > (size_t)block_bytes * blocks) fail("read beyond the end");
  for (size_t i = 0; i < size; ++i) {
    to[i] = cells[address + i];
    if (unstable[address + i] && draw() % 4 == 0) to[i] ^= (uint8_t)(unstable[address + i] & draw());
  }
  return 0;
}

/* A byte on its way to `then` when the power failed: early, in the middle, or when almost nothing was left to do. Bits
 * that were not done may read either way; where it was late, those of one byte in `late`. */
static void tear(uint32_t address, uint8_t then, uint32_t late) {
  const uint8_t changing = cells[address] ^ then, some = (uint8_t)(changing & draw());
  if (late) {
    cells[address] = then;
    if (draw() % late == 0) unstable[address] |= some;
  } else {
    cells[address] ^= some;
    unstable[address] |= changing;
  }
}

static int erase_flash(void* context, uint32_t address) {
  (void)context;
  if (address % block_bytes) fail("an erase that is not at a block");
  ++erases[address / block_bytes];
  if (fails_now()) {
    const uint32_t late = draw() % 2 ? 64 : 0;
    for (uint32_t i = 0; i < block_bytes; ++i) tear(address + i, 0xFF, late);
    longjmp(dark, 1);
  }
  memset(cells + address, 0xFF, block_bytes);
  memset(unstable + address, 0, block_bytes);
  memset(programmed + address / unit_bytes, 0, block_bytes / unit_bytes);
  return 0;
}

static int program_flash(void* context, uint32_t address, const void* bytes, size_t size) {
  const uint8_t* from = bytes;
  (void)context;
  if (address % unit_bytes || size % unit_bytes) fail("a program that is not of units");
  const uint32_t late = draw() % 2 ? 1 : 0;
  const size_t whole = fails_now() ? (late ? size - 1 : draw() % size) : size;
  for (size_t i = 0; i < size; ++i) {
    if (i % unit_bytes == 0) {
      if (programmed[(address + i) / unit_bytes]) fail("a unit was programmed twice");
      if (whole == size || i <= whole) programmed[(address + i) / unit_bytes] = 1;
    }
    if (i < whole) cells[address + i] = from[i];
    if (i == whole) tear(address + (uint32_t)i, from[i], late);
  }
  if (whole < size) longjmp(dark, 1);
  return 0;
}

static void need(int code, const char* what) {
  if (!code) return;
  fprintf(stderr, "%s: %s\n", what, br_error_text(code));
  exit(1);
}

static int contains(const char* text) {
  const size_t length = strlen(text), all = (size_t)block_bytes * blocks;
  for (size_t i = 0; i + length <= all; ++i)
    if (cells[i] == (uint8_t)text[0] && !memcmp(cells + i, text, length)) return 1;
  return 0;
}

static uint8_t* bytes_of(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (!file) fail("the model cannot be read");
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  uint8_t* bytes = aligned_alloc(64, (*size + 63) / 64 * 64);
  if (!bytes || fread(bytes, 1, *size, file) != *size) fail("the model cannot be read");
  fclose(file);
  return bytes;
}

static br_learner* learner;
static int64_t saves, cuts, loads;
static int saves_of_life;
static char saved[65], attempts[ATTEMPTS][65]; /* the last that was saved, and those whose save began since */
static int begun;
static uint64_t named;

static void load(const br_slots* slots) {
  char hash[65];
  const int code = br_learner_load(learner, slots);
  if (code == BR_NO_STATE && !saved[0]) return;
  need(code, "a state was lost");
  need(br_learner_hash(learner, hash), "hash");
  int known = !strcmp(hash, saved);
  for (int i = 0; i < begun; ++i) known |= !strcmp(hash, attempts[i]);
  if (!known) fail("another state was loaded");
  ++loads;
}

static void learn(void) {
  char text[24];
  _Alignas(8) int8_t encoded[4096];
  for (uint32_t i = 0; i < br_learner_encoded_bytes(learner); ++i) encoded[i] = (int8_t)(draw() % 255 - 127);
  const uint32_t count = br_learner_classes(learner), which = (uint32_t)(draw() % CLASSES);
  snprintf(text, sizeof text, "class %llu.", (unsigned long long)named);
  if (which < count) {
    br_name known;
    need(br_learner_class(learner, which, &known, 0, 0), "class");
    snprintf(text, sizeof text, "%.*s", (int)known.length, known.text);
  } else {
    ++named;
  }
  const br_name name = {text, strlen(text), 0};
  if (br_learner_experiences(learner) == MARKS) br_learner_clear(learner);
  need(br_learner_begin(learner), "begin");
  need(br_learner_add_encoded(learner, encoded, &name), "add");
  need(br_learner_end(learner), "end");
}

/* Returns the name that is forgotten; null: none. A new class always has a new name. */
static const char* forget(void) {
  static char gone[24];
  br_name name;
  if (br_learner_classes(learner) < 2) return 0;
  need(br_learner_class(learner, (uint32_t)(draw() % br_learner_classes(learner)), &name, 0, 0), "class");
  memset(gone, 0, sizeof gone);
  memcpy(gone, name.text, name.length);
  const br_name found = {gone, strlen(gone), 0};
  need(br_learner_forget(learner, &found), "forget");
  return gone;
}

static void live(const br_slots* slots, int64_t power) {
  power_left = power;
  for (int turn = 0; turn < saves_of_life; ++turn) {
    for (uint64_t pictures = 1 + draw() % 3; pictures; --pictures) learn();
    const char* gone = draw() % 4 ? 0 : forget();
    if (begun == ATTEMPTS) fail("too many saves in a row have failed");
    need(br_learner_hash(learner, attempts[begun++]), "hash");
    need(br_learner_save(learner, slots), "save");
    memcpy(saved, attempts[begun - 1], sizeof saved);
    begun = 0;
    ++saves;
    if (gone && contains(gone)) fail("a forgotten name is in the flash");
  }
}

/* Whether the power did not fail. */
static int survives(const br_slots* slots, int64_t power) {
  if (setjmp(dark)) return 0;
  live(slots, power);
  return 1;
}

int main(int count, char** words) {
  if (count != 8) fail("flash_lives MODEL LIVES SEED AREAS BLOCK UNIT SAVES");
  const int64_t lives = atoll(words[2]);
  size_t model_size;
  uint8_t* model = bytes_of(words[1], &model_size);
  const uint32_t areas = (uint32_t)atoi(words[4]);
  seed = (uint64_t)atoll(words[3]);
  block_bytes = (uint32_t)atoi(words[5]);
  unit_bytes = (uint32_t)atoi(words[6]);
  saves_of_life = atoi(words[7]);

  char error[128] = "";
  const br_learner_options options = {.classes = CLASSES, .name_bytes = 24, .marks = MARKS};
  br_learner_memory memory;
  if (br_learner_plan(model, model_size, &options, &memory, error, sizeof error)) fail(error);
  void* room = aligned_alloc(64, memory.total);
  if (br_learner_open(model, model_size, &options, room, memory.total, &learner, error, sizeof error)) fail(error);
  const uint32_t room_for_state = (uint32_t)memory.state + 2048;
  blocks = areas * ((room_for_state + block_bytes - 1) / block_bytes);
  const size_t all = (size_t)blocks * block_bytes;
  cells = malloc(all), unstable = calloc(all, 1), programmed = calloc(all / unit_bytes, 1);
  erases = calloc(blocks, sizeof *erases);
  for (size_t i = 0; i < all; ++i) cells[i] = (uint8_t)draw(); /* what was there before */
  memset(programmed, 1, all / unit_bytes);

  const br_flash flash = {0, block_bytes, blocks, unit_bytes, read_flash, erase_flash, program_flash};
  static br_flash_slots slots;
  uint64_t most = 0; /* operations of a life without a cut */
  for (int64_t life = 0; life < lives; ++life) {
    if (br_learner_open(model, model_size, &options, room, memory.total, &learner, error, sizeof error)) fail(error);
    power_left = -1;
    need(br_flash_open(&slots, &flash, areas), "open");
    load(&slots.slots);
    operations = 0;
    const int64_t power = life == 0 ? -1 : life <= (int64_t)most ? life - 1 : (int64_t)(draw() % (most + most / 4));
    cuts += !survives(&slots.slots, power);
    if (life == 0) most = operations;
  }
  uint32_t fewest = erases[0], highest = erases[0];
  uint64_t sum = 0;
  for (uint32_t i = 0; i < blocks; ++i) {
    if (erases[i] < fewest) fewest = erases[i];
    if (erases[i] > highest) highest = erases[i];
    sum += erases[i];
  }
  printf("{\"lives\": %lld, \"cuts\": %lld, \"saves\": %lld, \"loads\": %lld, \"operations\": %llu, \"blocks\": %u, ",
         (long long)lives, (long long)cuts, (long long)saves, (long long)loads, (unsigned long long)most, blocks);
  printf("\"erases\": %llu, \"fewest\": %u, \"most\": %u}\n", (unsigned long long)sum, fewest, highest);
  return 0;
}
