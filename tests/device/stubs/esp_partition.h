/* Of ESP-IDF. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef enum { ESP_PARTITION_TYPE_APP, ESP_PARTITION_TYPE_DATA } esp_partition_type_t;
typedef enum { ESP_PARTITION_SUBTYPE_DATA_SPIFFS = 0x82, ESP_PARTITION_SUBTYPE_ANY = 0xFF } esp_partition_subtype_t;
typedef struct {
  uint32_t address, size, erase_size;
} esp_partition_t;
const esp_partition_t* esp_partition_find_first(esp_partition_type_t, esp_partition_subtype_t, const char*);
int esp_partition_read(const esp_partition_t*, size_t, void*, size_t);
int esp_partition_write(const esp_partition_t*, size_t, const void*, size_t);
int esp_partition_erase_range(const esp_partition_t*, size_t, size_t);
#ifdef __cplusplus
}
#endif
