/* An Arduino Nano 33 BLE with an OV7670 or OV7675: two buttons teach two classes, the LED says which one it sees.
 *
 * Needs the library Arduino_OV767X. Export the model with --size 24 --n-components 64 --classes 4 for nrf52840: the
 * learner then leaves room for the camera. Hold a button while the camera sees the thing; the state is saved three
 * seconds after the last picture. `bitreplay device` works at the same time.
 */
#include <Arduino_OV767X.h>
#include <FlashIAP.h>
#include <bitreplay_device.h>
#include <bitreplay_model.h>

enum { WIDTH = 160, HEIGHT = 120, BUTTON_ONE = 2, BUTTON_TWO = 3, BLOCK = 4096, BLOCKS = 48, AREAS = 3 };

static uint8_t memory[BITREPLAY_LEARNER_BYTES] __attribute__((aligned(64)));
static uint8_t frame[WIDTH * HEIGHT * 2 + 5120]; /* the camera's frame lies at its end, the square at its beginning */
static uint8_t room[BITREPLAY_SIDE * BITREPLAY_SIDE * 3];
static int32_t probabilities[BITREPLAY_CLASSES];
static br_console console;
static br_flash_slots slots;
static mbed::FlashIAP chip;
static uint32_t region;
static unsigned long lastTaught;
static bool unsaved;

static int getByte(void*, int wait) {
  const unsigned long start = millis();
  while (!Serial.available())
    if (!wait || millis() - start > 1000) return -1;
  return Serial.read();
}

static void putBytes(void*, const void* bytes, size_t size) {
  Serial.write((const uint8_t*)bytes, size);
}

static int takePicture(void*, br_picture* picture) {
  uint8_t* seen = frame + sizeof frame - WIDTH * HEIGHT * 2;
  if ((size_t)(seen - frame) < br_frame_offset(WIDTH, HEIGHT, BR_FRAME_RGB565)) return 1;
  Camera.readFrame(seen);
  br_frame_square(seen, WIDTH, HEIGHT, BR_FRAME_RGB565, frame, picture);
  return 0;
}

static int readFlash(void*, uint32_t address, void* bytes, size_t size) {
  return chip.read(bytes, region + address, size);
}

static int eraseFlash(void*, uint32_t address) {
  return chip.erase(region + address, BLOCK);
}

static int programFlash(void*, uint32_t address, const void* bytes, size_t size) {
  return chip.program(bytes, region + address, size);
}

static void stopWith(const char* text) {
  for (;; delay(1000)) Serial.println(text);
}

void setup() {
  Serial.begin(115200);
  pinMode(BUTTON_ONE, INPUT_PULLUP);
  pinMode(BUTTON_TWO, INPUT_PULLUP);
  pinMode(LED_BUILTIN, OUTPUT);
  if (!Camera.begin(QQVGA, RGB565, 1)) stopWith("there is no camera");

  br_learner_options options = {};
  options.classes = BITREPLAY_CLASSES;
  char error[128] = "";
  if (br_learner_open(bitreplay_model, BITREPLAY_MODEL_BYTES, &options, memory, sizeof memory, &console.learner, error,
                      sizeof error))
    stopWith(error);
  chip.init();
  region = chip.get_flash_start() + chip.get_flash_size() - BLOCKS * BLOCK;
  const br_flash flash = {0, BLOCK, BLOCKS, 4, readFlash, eraseFlash, programFlash};
  if (br_flash_open(&slots, &flash, AREAS)) stopWith("the flash cannot be read");
  br_learner_load(console.learner, &slots.slots);
  console.slots = &slots.slots;
  console.get = getByte;
  console.put = putBytes;
  console.capture = takePicture;
  console.room = room;
  console.room_bytes = sizeof room;
  console.probabilities = probabilities;
}

static void teach(const char* text) {
  br_picture picture;
  const br_name name = {text, strlen(text), 0};
  if (takePicture(0, &picture) || br_learner_begin(console.learner)) return;
  br_learner_add(console.learner, &picture, &name);
  br_learner_end(console.learner);
  unsaved = true;
  lastTaught = millis();
}

static void answer() {
  br_picture picture;
  br_answer found = {0, 0, 0, 0, 0};
  br_name name;
  if (takePicture(0, &picture) || br_learner_predict(console.learner, &picture, &found)) return;
  if (br_learner_class(console.learner, found.label, &name, 0, 0)) return;
  digitalWrite(LED_BUILTIN, name.length == 3 && !memcmp(name.text, "one", 3));
}

void loop() {
  br_console_poll(&console);
  if (!digitalRead(BUTTON_ONE)) teach("one");
  else if (!digitalRead(BUTTON_TWO)) teach("two");
  else if (br_learner_classes(console.learner) > 1) answer();
  if (unsaved && millis() - lastTaught > 3000) unsaved = br_learner_save(console.learner, &slots.slots) != BR_OK;
}
