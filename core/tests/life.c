/* A learner of the strategy exact: whatever it learns, loses, merges and saves, equal images end in equal states.
 *
 *     life MODEL */
#include "check.h"

enum { IMAGES = 12, SIDE = 9 };
static const br_name kNames[3] = {{"pear", 4, 0}, {"plum", 4, 0}, {NULL, 0, 7}};
static uint8_t images[IMAGES][SIDE][SIDE][3];

static const br_name* name_of(int image) { return &kNames[image % 3]; }

static br_picture picture(int image) {
  const br_picture made = {&images[image][0][0][0], SIDE, SIDE, 3, 0};
  return made;
}

/* Images of a class are alike. */
static void make_images(void) {
  uint32_t random = 1;
  for (int image = 0; image < IMAGES; ++image)
    for (int at = 0; at < SIDE * SIDE * 3; ++at) {
      random = random * 1664525 + 1013904223;
      const int bright = at % 3 == image % 3;
      (&images[image][0][0][0])[at] = (uint8_t)((bright ? 180 : 20) + (random >> 26));
    }
}

static void learn(br_learner* learner, int first, int end) {
  CHECK(br_learner_begin(learner) == BR_OK);
  for (int image = first; image < end; ++image) {
    const br_picture one = picture(image);
    CHECK(br_learner_add(learner, &one, name_of(image)) == BR_OK);
  }
  CHECK(br_learner_end(learner) == BR_OK);
}

static int has_hash(br_learner* learner, const char* hash) {
  char own[65];
  CHECK(br_learner_hash(learner, own) == BR_OK && strlen(own) == 64);
  return !strcmp(own, hash);
}

static void test_answers(br_learner* learner) {
  for (int image = 0; image < IMAGES; ++image) {
    const br_picture one = picture(image);
    int64_t scores[3];
    int32_t probabilities[3];
    br_answer answer = {0, scores, probabilities, 0, 0};
    br_name name;
    CHECK(br_learner_predict(learner, &one, &answer) == BR_OK);
    CHECK(br_learner_class(learner, answer.label, &name, NULL, NULL) == BR_OK);
    uint32_t label;
    CHECK(br_learner_label(learner, name_of(image), &label) == BR_OK && label == answer.label);
    CHECK(name.text ? name_of(image)->text && !memcmp(name.text, name_of(image)->text, 4) : name.number == 7);
    const int64_t all = (int64_t)probabilities[0] + probabilities[1] + probabilities[2];
    CHECK(all <= (1 << 30) + 3 && all >= (1 << 30) - 3); /* each is rounded */
    for (int c = 0; c < 3; ++c) CHECK(scores[c] <= scores[answer.label] && probabilities[c] >= 0);
  }
}

static void test_what_is_unlearned_was_never_there(struct bytes model, const char* half) {
  br_learner* const learner = open_learner(model);
  learn(learner, 0, IMAGES);
  const br_picture never = {&images[0][0][0][0], 1, 1, 3, 0};
  CHECK(br_learner_unlearn(learner, &never, &kNames[0]) == BR_NEVER_LEARNED);
  for (int image = IMAGES / 2; image < IMAGES; ++image) {
    const br_picture one = picture(image);
    CHECK(!has_hash(learner, half));
    CHECK(br_learner_unlearn(learner, &one, name_of(image)) == BR_OK);
  }
  CHECK(has_hash(learner, half));
  const br_name other = {"kiwi", 4, 0};
  CHECK(br_learner_rename(learner, &kNames[0], &other) == BR_OK && !has_hash(learner, half));
  CHECK(br_learner_rename(learner, &other, &kNames[1]) == BR_NAME_TAKEN);
  CHECK(br_learner_rename(learner, &other, &kNames[0]) == BR_OK && has_hash(learner, half));
  uint32_t label = 9;
  CHECK(br_learner_label(learner, &other, &label) == BR_UNKNOWN_CLASS);
  CHECK(br_learner_forget(learner, &other) == BR_UNKNOWN_CLASS && br_learner_classes(learner) == 3);
  CHECK(br_learner_forget(learner, &kNames[0]) == BR_OK && br_learner_classes(learner) == 2);
}

static void test_states_add_up(struct bytes model, const char* half, const char* whole) {
  br_learner *const ours = open_learner(model), *const theirs = open_learner(model), *const both = open_learner(model);
  learn(ours, 0, IMAGES / 2);
  learn(theirs, IMAGES / 2, IMAGES);
  struct bytes base = state_of(ours), other = state_of(theirs);
  CHECK(br_learner_merge(ours, read_bytes, &other, other.size) == BR_OK && has_hash(ours, whole));
  CHECK(br_learner_take_out(ours, read_bytes, &other, other.size) == BR_OK && has_hash(ours, half));
  CHECK(read_state(both, base) == BR_OK && has_hash(both, half));
  learn(both, IMAGES / 2, IMAGES); /* began as ours, and has seen more */
  struct bytes more = state_of(both);
  CHECK(br_learner_merge_since(ours, read_bytes, &more, more.size, read_bytes, &base, base.size) == BR_OK);
  CHECK(has_hash(ours, whole));
  CHECK(br_learner_merge_since(ours, read_bytes, &other, other.size, read_bytes, &base, base.size) == BR_OTHER_BASE);
  CHECK(has_hash(ours, whole));
  more.at[more.size / 2] ^= 1;
  CHECK(read_state(both, more) == BR_DAMAGED && has_hash(both, whole));
}

static uint8_t slots[2][1 << 18];
static int read_slot(void* context, uint32_t slot, size_t offset, void* bytes, size_t size) {
  (void)context;
  memcpy(bytes, slots[slot] + offset, size);
  return 0;
}
static int erase_slot(void* context, uint32_t slot, size_t size) {
  (void)context;
  memset(slots[slot], 0xff, size);
  return 0;
}
static int write_slot(void* context, uint32_t slot, size_t offset, const void* bytes, size_t size) {
  (void)context;
  memcpy(slots[slot] + offset, bytes, size);
  return 0;
}
static int sync_slot(void* context, uint32_t slot) {
  (void)context;
  (void)slot;
  return 0;
}

static void test_slots(struct bytes model, const char* half, const char* whole) {
  const br_slots flash = {NULL, sizeof slots[0], read_slot, erase_slot, write_slot, sync_slot};
  br_learner *const learner = open_learner(model), *const other = open_learner(model);
  CHECK(br_learner_load(other, &flash) == BR_NO_STATE);
  learn(learner, 0, IMAGES / 2);
  CHECK(br_learner_save(learner, &flash) == BR_OK);
  CHECK(br_learner_begin(learner) == BR_OK && br_learner_save(learner, &flash) == BR_BAD_ORDER);
  CHECK(br_learner_end(learner) == BR_OK);
  learn(learner, IMAGES / 2, IMAGES);
  CHECK(br_learner_save(learner, &flash) == BR_OK);
  CHECK(br_learner_load(other, &flash) == BR_OK && has_hash(other, whole));
  CHECK(br_learner_rollback(other, &flash) == BR_OK && has_hash(other, half));
  CHECK(br_learner_rollback(other, &flash) == BR_NO_STATE);
}

int main(int count, char** words) {
  CHECK(count == 2);
  make_images();
  const struct bytes model = read_file(words[1]);
  br_learner* const learner = open_learner(model);
  char nothing[65], half[65], whole[65];
  br_answer answer = {0};
  const br_picture one = picture(0);
  CHECK(br_abi() == BR_ABI && !strcmp(br_learner_strategy(learner), "exact"));
  CHECK(br_learner_hash(learner, nothing) == BR_OK);
  CHECK(br_learner_predict(learner, &one, &answer) == BR_NOTHING_LEARNED);
  CHECK(br_learner_add(learner, &one, &kNames[0]) == BR_BAD_ORDER);
  learn(learner, 0, IMAGES / 2);
  CHECK(br_learner_hash(learner, half) == BR_OK);
  learn(learner, IMAGES / 2, IMAGES);
  CHECK(br_learner_hash(learner, whole) == BR_OK);
  CHECK(br_learner_pictures(learner) == IMAGES && br_learner_experiences(learner) == 2);
  test_answers(learner);
  test_what_is_unlearned_was_never_there(model, half);
  test_states_add_up(model, half, whole);
  test_slots(model, half, whole);
  br_learner_clear(learner);
  CHECK(has_hash(learner, nothing) && !br_learner_classes(learner));
  printf("%s\n", whole);
  return 0;
}
