/* Commands over a serial line, for a person at a terminal and for `bitreplay device`: docs/device.md.
 *
 * A command is a line. The board answers with lines that begin with '#', the last of which is "#ok ..." or "#error
 * ...". Bytes are sent in blocks, each with a checksum behind it; those to the board when it asks for them, so that
 * it needs no more room than a block and loses nothing while it computes.
 */
#include <string.h>

#include "bitreplay_device.h"
#include "crc32.h"

enum { TRIES = 3 };

static void say(br_console* self, const char* text) { self->put(self->context, text, strlen(text)); }

static void say_number(br_console* self, uint64_t value) {
  char text[24], *at = text + sizeof text - 1;
  *at = 0;
  do *--at = (char)('0' + value % 10);
  while (value /= 10);
  say(self, " ");
  say(self, at);
}

static void answer(br_console* self, int code) {
  say(self, code ? "#error" : "#ok");
  if (!code) return;
  say_number(self, (uint64_t)code);
  say(self, " ");
  say(self, br_error_text(code));
  say(self, "\n");
}

static void done(br_console* self, int code) {
  answer(self, code);
  if (!code) say(self, "\n");
}

static void put_crc(br_console* self, uint32_t crc) {
  const uint8_t bytes[4] = {(uint8_t)crc, (uint8_t)(crc >> 8), (uint8_t)(crc >> 16), (uint8_t)(crc >> 24)};
  self->put(self->context, bytes, sizeof bytes);
}

/* Asks the desk for bytes; again where the checksum is wrong. */
static int want(void* context, size_t offset, void* bytes, size_t size) {
  br_console* self = context;
  uint8_t* to = bytes;
  for (int attempt = 0; attempt < TRIES; ++attempt) {
    uint32_t crc = 0;
    size_t have = 0;
    say(self, "#want");
    say_number(self, offset);
    say_number(self, size);
    say(self, "\n");
    for (; have < size + 4; ++have) {
      const int byte = self->get(self->context, 1);
      if (byte < 0) break;
      if (have < size) to[have] = (uint8_t)byte;
      else crc |= (uint32_t)byte << 8 * (have - size);
    }
    if (have == size + 4 && crc == device_crc32(0, to, size)) return 0;
    while (self->get(self->context, 1) >= 0) {} /* what is left of it */
  }
  return 1;
}

static int put_block(void* context, size_t offset, const void* bytes, size_t size) {
  br_console* self = context;
  say(self, "#block");
  say_number(self, offset);
  say_number(self, size);
  say(self, "\n");
  self->put(self->context, bytes, size);
  put_crc(self, device_crc32(0, bytes, size));
  return 0;
}

/* A number of the line, and the rest behind a space. */
static int number_of(const char** text, uint32_t* value) {
  const char* at = *text;
  uint64_t found = 0;
  while (*at >= '0' && *at <= '9' && found <= 0xFFFFFFFFu) found = 10 * found + (uint64_t)(*at++ - '0');
  if (at == *text || (*at && *at != ' ') || found > 0xFFFFFFFFu) return 0;
  *value = (uint32_t)found;
  *text = *at ? at + 1 : at;
  return 1;
}

/* What the desk sent, once, or what the camera sees. */
static int picture_now(br_console* self, br_picture* picture) {
  if (self->has_sent) {
    *picture = self->sent;
    self->has_sent = 0;
    return BR_OK;
  }
  if (!self->capture) return BR_UNSUPPORTED;
  return self->capture(self->context, picture) ? BR_STORAGE : BR_OK;
}

static void hello(br_console* self, const char* text) {
  (void)text;
  answer(self, BR_OK);
  say(self, " bitreplay 1");
  say_number(self, br_learner_side(self->learner));
  say_number(self, self->capture != 0);
  say_number(self, self->slots != 0);
  say(self, " ");
  say(self, br_learner_strategy(self->learner));
  say(self, "\n");
}

/* Takes a picture of the desk into `room`. */
static int receive(br_console* self, const char* text) {
  uint32_t width, height;
  if (!number_of(&text, &width) || !number_of(&text, &height) || !width || !height) return BR_BAD_ARGUMENT;
  if ((uint64_t)width * height * 3 > self->room_bytes) return BR_FULL;
  if (want(self, 0, self->room, (size_t)width * height * 3)) return BR_STORAGE;
  const br_picture sent = {self->room, width, height, 3, 0};
  self->sent = sent;
  self->has_sent = 1;
  return BR_OK;
}

static void picture(br_console* self, const char* text) { done(self, receive(self, text)); }

static void teach(br_console* self, const char* text) {
  const br_name name = {text, strlen(text), 0};
  br_picture shown;
  int code = picture_now(self, &shown);
  if (!code) code = br_learner_begin(self->learner);
  if (!code) {
    code = br_learner_add(self->learner, &shown, &name);
    const int ended = br_learner_end(self->learner);
    if (!code) code = ended;
  }
  answer(self, code);
  if (code) return;
  say_number(self, (uint64_t)br_learner_pictures(self->learner));
  say(self, "\n");
}

static void say_name(br_console* self, const br_name* name) {
  if (name->text) {
    say(self, " ");
    self->put(self->context, name->text, name->length);
  } else {
    if (name->number < 0) say(self, " -");
    say_number(self, (uint64_t)(name->number < 0 ? -name->number : name->number));
  }
  say(self, "\n");
}

static void ask(br_console* self, const char* text) {
  (void)text;
  br_picture shown;
  br_answer found = {0, 0, self->probabilities, br_learner_share(self->learner), 0};
  br_name name;
  int code = picture_now(self, &shown);
  if (!code) code = br_learner_predict(self->learner, &shown, &found);
  if (!code) code = br_learner_class(self->learner, found.label, &name, 0, 0);
  answer(self, code);
  if (code) return;
  say_number(self, found.unknown);
  say_number(self, self->probabilities ? ((uint64_t)self->probabilities[found.label] * 1000 + (1 << 29)) >> 30 : 0);
  say_name(self, &name);
}

static void classes(br_console* self, const char* text) {
  (void)text;
  const uint32_t count = br_learner_classes(self->learner);
  for (uint32_t label = 0; label < count; ++label) {
    br_name name;
    int64_t pictures;
    if (br_learner_class(self->learner, label, &name, &pictures, 0)) continue;
    say(self, "#class");
    say_number(self, (uint64_t)pictures);
    say_name(self, &name);
  }
  answer(self, BR_OK);
  say_number(self, count);
  say(self, "\n");
}

static void forget(br_console* self, const char* text) {
  const br_name name = {text, strlen(text), 0};
  done(self, br_learner_forget(self->learner, &name));
}

/* "#ok" and the state's hash. */
static void done_with_hash(br_console* self, int code) {
  char hash[65];
  if (!code) code = br_learner_hash(self->learner, hash);
  answer(self, code);
  if (code) return;
  say(self, " ");
  say(self, hash);
  say(self, "\n");
}

static void pull(br_console* self, const char* text) {
  (void)text;
  say(self, "#state");
  say_number(self, br_learner_state_bytes(self->learner));
  say(self, "\n");
  done_with_hash(self, br_learner_write(self->learner, put_block, self));
}

static void push(br_console* self, const char* text) {
  uint32_t size;
  done_with_hash(self, number_of(&text, &size) ? br_learner_read(self->learner, want, self, size) : BR_BAD_ARGUMENT);
}

static void hash(br_console* self, const char* text) {
  (void)text;
  done_with_hash(self, BR_OK);
}

static void save(br_console* self, const char* text) {
  (void)text;
  done(self, self->slots ? br_learner_save(self->learner, self->slots) : BR_UNSUPPORTED);
}

static void clear(br_console* self, const char* text) {
  (void)text;
  br_learner_clear(self->learner);
  done(self, BR_OK);
}

static const struct {
  const char* name;
  void (*run)(br_console* self, const char* text); /* what comes behind the name and a space */
} commands[] = {{"hello", hello},     {"picture", picture}, {"teach", teach}, {"ask", ask},
                {"classes", classes}, {"forget", forget},   {"hash", hash},   {"save", save},
                {"pull", pull},       {"push", push},       {"clear", clear}};

static void run(br_console* self, const char* line) {
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; ++i) {
    const size_t length = strlen(commands[i].name);
    if (strncmp(line, commands[i].name, length) || (line[length] && line[length] != ' ')) continue;
    commands[i].run(self, line + length + (line[length] == ' '));
    return;
  }
  if (*line) done(self, BR_BAD_ARGUMENT);
}

void br_console_poll(br_console* self) {
  for (int byte; (byte = self->get(self->context, 0)) >= 0;) {
    if (byte == '\r') continue;
    if (byte != '\n') {
      if (self->length < sizeof self->line) self->line[self->length] = (char)byte;
      if (self->length < sizeof self->line + 1) ++self->length;
      continue;
    }
    const size_t length = self->length;
    self->length = 0;
    if (length >= sizeof self->line) {
      done(self, BR_FULL);
      continue;
    }
    self->line[length] = 0;
    run(self, self->line);
  }
}
