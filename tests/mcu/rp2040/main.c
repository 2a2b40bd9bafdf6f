/* What main.c of an export learns, on a board: its hash, and its answer to the second picture. */
#include <string.h>

#include "bitreplay_device.h"
#include "bitreplay_model.h"
#include "board.h"

enum { EDGE = 48 };

static unsigned char memory[BITREPLAY_LEARNER_BYTES] __attribute__((aligned(64)));
static unsigned char pixels[EDGE * EDGE * 3];

int main(void) {
  br_learner* learner;
  br_learner_options options = {.classes = BITREPLAY_CLASSES};
  br_answer answer = {0};
  br_name name;
  char text[128] = "";
  const br_picture picture = {pixels, EDGE, EDGE, 3, 0};
  if (br_learner_open(bitreplay_model, BITREPLAY_MODEL_BYTES, &options, memory, sizeof memory, &learner, text,
                      sizeof text)) {
    board_say(text);
    return 1;
  }
  for (int k = 0; k < 2; ++k) {
    const br_name names = {k ? "light" : "dark", k ? 5 : 4, 0};
    memset(pixels, k ? 230 : 20, sizeof pixels);
    if (br_learner_begin(learner) || br_learner_add(learner, &picture, &names) || br_learner_end(learner)) return 2;
  }
  if (br_learner_hash(learner, text)) return 3;
  board_say(text);
  if (br_learner_predict(learner, &picture, &answer) || br_learner_class(learner, answer.label, &name, 0, 0)) return 4;
  memcpy(text, name.text, name.length);
  text[name.length] = 0;
  board_say("\n");
  board_say(text);
  return 0;
}
