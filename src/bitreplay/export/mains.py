"""A main for a learner in C: opens the exported model, learns a dark and a light picture, prints the state's hash."""

from __future__ import annotations

from bitreplay.export.c_learners import CLearner

SIDE = 48
_MAIN = """\
/* Opens the exported model, learns a dark and a light picture, and prints the state's hash: export.json has the same.
 *
 *   {build}
 */
#include <stdio.h>
#include <string.h>

#include "bitreplay_learner.h"
#include "sizes.h"

extern const unsigned char bitreplay_model[BITREPLAY_MODEL_BYTES];
static unsigned char memory[BITREPLAY_LEARNER_BYTES] __attribute__((aligned(64)));
static unsigned char pixels[{side} * {side} * 3];

static int learn(br_learner* learner, int colour, const char* label) {{
  const br_picture picture = {{pixels, {side}, {side}, 3, 0}};
  const br_name name = {{label, strlen(label), 0}};
  memset(pixels, colour, sizeof pixels);
  int failed = br_learner_begin(learner);
  if (!failed) failed = br_learner_add(learner, &picture, &name);
  return failed ? failed : br_learner_end(learner);
}}

int main(void) {{
  const br_learner_options options = {options};
  const br_picture picture = {{pixels, {side}, {side}, 3, 0}};
  br_answer answer = {{0, 0, 0, 0, 0}};
  br_learner* learner;
  char text[128] = "", hash[65];
  int failed = br_learner_open(bitreplay_model, sizeof bitreplay_model, &options, memory, sizeof memory, &learner, text,
                               sizeof text);
  if (failed) {{
    printf("%s\\n", text);
    return 1;
  }}
  failed = learn(learner, 20, "dark");
  if (!failed) failed = learn(learner, 230, "light");
  if (!failed) failed = br_learner_predict(learner, &picture, &answer);
  if (!failed) failed = br_learner_hash(learner, hash);
  printf("%s\\n", failed ? br_error_text(failed) : hash);
  return failed || answer.label != 1;
}}
"""


def main_of(c_learner: CLearner, build: str) -> str:
    """`build` says how to build it."""
    return _MAIN.format(side=SIDE, build=build, options=c_learner.options)
