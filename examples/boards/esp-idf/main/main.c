/* A learner at UART 0 of an ESP32, its states in the partition "states" (partitions.csv).
 *
 *   bitreplay device /dev/ttyUSB0 teach cup 1.jpg 2.jpg
 */
#include "bitreplay_device.h"
#include "bitreplay_model.h"
#include "driver/uart.h"
#include "esp_heap_caps.h"
#include "esp_partition.h"
#include "freertos/FreeRTOS.h"
#include "sdkconfig.h"

enum { BLOCK = 4096 };

static uint8_t room[BITREPLAY_SIDE * BITREPLAY_SIDE * 3];
static int32_t probabilities[BITREPLAY_CLASSES];
static br_flash_slots slots;
static br_console console;
static const esp_partition_t* partition;

static int get_byte(void* context, int wait) {
  uint8_t byte;
  (void)context;
  return uart_read_bytes(UART_NUM_0, &byte, 1, wait ? pdMS_TO_TICKS(1000) : pdMS_TO_TICKS(20)) == 1 ? byte : -1;
}

static void put_bytes(void* context, const void* bytes, size_t size) {
  (void)context;
  uart_write_bytes(UART_NUM_0, bytes, size);
}

static int read_flash(void* context, uint32_t address, void* bytes, size_t size) {
  (void)context;
  return esp_partition_read(partition, address, bytes, size);
}

static int erase_flash(void* context, uint32_t address) {
  (void)context;
  return esp_partition_erase_range(partition, address, BLOCK);
}

static int program_flash(void* context, uint32_t address, const void* bytes, size_t size) {
  (void)context;
  return esp_partition_write(partition, address, bytes, size);
}

void app_main(void) {
#ifdef CONFIG_BITREPLAY_IN_PSRAM
  const uint32_t place = MALLOC_CAP_SPIRAM;
#else
  const uint32_t place = MALLOC_CAP_INTERNAL | MALLOC_CAP_8BIT;
#endif
  const br_learner_options options = {.classes = BITREPLAY_CLASSES};
  char error[128] = "the learner has no memory";
  void* memory = heap_caps_aligned_alloc(64, BITREPLAY_LEARNER_BYTES, place);
  uart_driver_install(UART_NUM_0, 4096, 0, 0, NULL, 0);
  if (!memory || br_learner_open(bitreplay_model, BITREPLAY_MODEL_BYTES, &options, memory, BITREPLAY_LEARNER_BYTES,
                                 &console.learner, error, sizeof error)) {
    put_bytes(0, error, sizeof error);
    return;
  }
  partition = esp_partition_find_first(ESP_PARTITION_TYPE_DATA, ESP_PARTITION_SUBTYPE_ANY, "states");
  if (partition) {
    const br_flash flash = {0, BLOCK, partition->size / BLOCK, 16, read_flash, erase_flash, program_flash};
    if (!br_flash_open(&slots, &flash, CONFIG_BITREPLAY_AREAS)) console.slots = &slots.slots;
    if (console.slots) br_learner_load(console.learner, console.slots);
  }
  console.get = get_byte;
  console.put = put_bytes;
  console.room = room;
  console.room_bytes = sizeof room;
  console.probabilities = probabilities;
  for (;;) br_console_poll(&console);
}
