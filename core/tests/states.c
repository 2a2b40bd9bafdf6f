/* Odd state files: each is taken or refused as a list says. What is taken and of the present format is written again as
 * the same bytes; what is refused changes nothing.
 *
 *     states MODEL VERDICTS FOLDER FORMAT */
#include "check.h"

static int is_equal(struct bytes a, struct bytes b) { return a.size == b.size && !memcmp(a.at, b.at, a.size); }

int main(int count, char** words) {
  CHECK(count == 5);
  const struct bytes model = read_file(words[1]);
  FILE* const verdicts = fopen(words[2], "r");
  CHECK(verdicts);
  br_learner* const learner = open_learner(model);
  const struct bytes nothing = state_of(learner);
  char line[512], name[256], verdict[16], path[1024];
  int taken = 0, refused = 0;
  while (fgets(line, sizeof line, verdicts)) {
    if (sscanf(line, " \"%255[^\"]\": \"%15[^\"]\"", name, verdict) != 2) continue;
    CHECK(snprintf(path, sizeof path, "%s/%s.state", words[3], name) < (int)sizeof path);
    const struct bytes state = read_file(path);
    const int code = read_state(learner, state), expected = !strcmp(verdict, "taken");
    if ((code == BR_OK) != expected) fprintf(stderr, "%s: %s\n", name, br_error_text(code));
    CHECK((code == BR_OK) == expected);
    if (expected && !strcmp(words[4], "3")) CHECK(is_equal(state_of(learner), state));
    if (!expected) CHECK(is_equal(state_of(learner), nothing));
    CHECK(read_state(learner, nothing) == BR_OK);
    ++*(expected ? &taken : &refused);
  }
  fclose(verdicts);
  CHECK(taken > 3 && refused > 20);
  printf("%d taken, %d refused\n", taken, refused);
  return 0;
}
