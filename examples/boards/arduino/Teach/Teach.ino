/* A learner at the serial port, without a camera: the desk sends the pictures.
 *
 *   bitreplay device /dev/ttyACM0 teach cup 1.jpg 2.jpg
 *   bitreplay device /dev/ttyACM0 ask 3.jpg
 *
 * What it knows is gone without power: pull it, or see the other examples for flash.
 */
#include <bitreplay_device.h>
#include <bitreplay_model.h>

static uint8_t memory[BITREPLAY_LEARNER_BYTES] __attribute__((aligned(64)));
static uint8_t room[BITREPLAY_SIDE * BITREPLAY_SIDE * 3];
static int32_t probabilities[BITREPLAY_CLASSES];
static br_console console;

static int getByte(void*, int wait) {
  const unsigned long start = millis();
  while (!Serial.available())
    if (!wait || millis() - start > 1000) return -1;
  return Serial.read();
}

static void putBytes(void*, const void* bytes, size_t size) {
  Serial.write((const uint8_t*)bytes, size);
}

void setup() {
  Serial.begin(115200);
  br_learner_options options = {};
  options.classes = BITREPLAY_CLASSES;
  char error[128] = "";
  if (br_learner_open(bitreplay_model, BITREPLAY_MODEL_BYTES, &options, memory, sizeof memory, &console.learner, error,
                      sizeof error)) {
    for (;; delay(1000)) Serial.println(error);
  }
  console.get = getByte;
  console.put = putBytes;
  console.room = room;
  console.room_bytes = sizeof room;
  console.probabilities = probabilities;
}

void loop() {
  br_console_poll(&console);
}
