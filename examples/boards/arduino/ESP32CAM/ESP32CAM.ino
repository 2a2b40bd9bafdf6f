/* An ESP32-CAM (AI Thinker): two buttons teach two classes, the red LED says which one it sees.
 *
 * In the Arduino IDE: board "AI Thinker ESP32-CAM", a partition scheme with SPIFFS, whose partition holds the states. The
 * learner lies in PSRAM. Buttons connect GPIO 14 and 15 to ground. Hold one while the camera sees the thing; the state
 * is saved three seconds after the last picture. `bitreplay device` works at the same time.
 */
#include <bitreplay_device.h>
#include <bitreplay_model.h>
#include <esp_camera.h>
#include <esp_heap_caps.h>
#include <esp_partition.h>

enum { BUTTON_ONE = 14, BUTTON_TWO = 15, RED_LED = 33, BLOCK = 4096, AREAS = 4, MAX_BLOCKS = 256 };

enum { SQUARE_BYTES = 120 * 120 * 3 };
static uint8_t* square;
static uint8_t room[BITREPLAY_SIDE * BITREPLAY_SIDE * 3];
static int32_t probabilities[BITREPLAY_CLASSES];
static br_console console;
static br_flash_slots slots;
static const esp_partition_t* partition;
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
  camera_fb_t* frame = esp_camera_fb_get();
  if (!frame) return 1;
  int failed = 0;
  if (frame->format == PIXFORMAT_JPEG) failed = br_frame_jpeg(frame->buf, frame->len, square, SQUARE_BYTES, picture);
  else br_frame_square(frame->buf, frame->width, frame->height, BR_FRAME_RGB565, square, picture);
  esp_camera_fb_return(frame);
  return failed;
}

static int readFlash(void*, uint32_t address, void* bytes, size_t size) {
  return esp_partition_read(partition, address, bytes, size);
}

static int eraseFlash(void*, uint32_t address) {
  return esp_partition_erase_range(partition, address, BLOCK);
}

static int programFlash(void*, uint32_t address, const void* bytes, size_t size) {
  return esp_partition_write(partition, address, bytes, size);
}

static void stopWith(const char* text) {
  for (;; delay(1000)) Serial.println(text);
}

static bool startCamera() {
  camera_config_t config = {};
  config.pin_pwdn = 32, config.pin_reset = -1, config.pin_xclk = 0, config.pin_sccb_sda = 26, config.pin_sccb_scl = 27;
  config.pin_d7 = 35, config.pin_d6 = 34, config.pin_d5 = 39, config.pin_d4 = 36;
  config.pin_d3 = 21, config.pin_d2 = 19, config.pin_d1 = 18, config.pin_d0 = 5;
  config.pin_vsync = 25, config.pin_href = 23, config.pin_pclk = 22;
  config.xclk_freq_hz = 20000000;
  config.pixel_format = PIXFORMAT_RGB565; /* or PIXFORMAT_JPEG with FRAMESIZE_VGA, if frames are also sent elsewhere */
  config.frame_size = FRAMESIZE_QQVGA;
  config.fb_count = 1;
  config.fb_location = CAMERA_FB_IN_PSRAM;
  config.grab_mode = CAMERA_GRAB_WHEN_EMPTY;
  return esp_camera_init(&config) == ESP_OK;
}

void setup() {
  Serial.begin(115200);
  pinMode(BUTTON_ONE, INPUT_PULLUP);
  pinMode(BUTTON_TWO, INPUT_PULLUP);
  pinMode(RED_LED, OUTPUT);
  if (!startCamera()) stopWith("there is no camera");
  uint8_t* memory = (uint8_t*)heap_caps_aligned_alloc(64, BITREPLAY_LEARNER_BYTES, MALLOC_CAP_SPIRAM);
  square = (uint8_t*)heap_caps_aligned_alloc(64, SQUARE_BYTES, MALLOC_CAP_SPIRAM);
  if (!memory || !square) stopWith("there is no PSRAM");

  br_learner_options options = {};
  options.classes = BITREPLAY_CLASSES;
  char error[128] = "";
  if (br_learner_open(bitreplay_model, BITREPLAY_MODEL_BYTES, &options, memory, BITREPLAY_LEARNER_BYTES,
                      &console.learner, error, sizeof error))
    stopWith(error);
  partition = esp_partition_find_first(ESP_PARTITION_TYPE_DATA, ESP_PARTITION_SUBTYPE_DATA_SPIFFS, 0);
  if (!partition) stopWith("there is no partition for states");
  uint32_t blocks = partition->size / BLOCK;
  if (blocks > MAX_BLOCKS) blocks = MAX_BLOCKS;
  const br_flash flash = {0, BLOCK, blocks, 16, readFlash, eraseFlash, programFlash};
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
  digitalWrite(RED_LED, !(name.length == 3 && !memcmp(name.text, "one", 3))); /* lit when low */
}

void loop() {
  br_console_poll(&console);
  if (!digitalRead(BUTTON_ONE)) teach("one");
  else if (!digitalRead(BUTTON_TWO)) teach("two");
  else if (br_learner_classes(console.learner) > 1) answer();
  if (unsaved && millis() - lastTaught > 3000) unsaved = br_learner_save(console.learner, &slots.slots) != BR_OK;
}
