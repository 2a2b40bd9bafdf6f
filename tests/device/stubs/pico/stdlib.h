/* Of the Raspberry Pi Pico's SDK. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
bool stdio_init_all(void);
int getchar_timeout_us(uint32_t);
int putchar_raw(int);
void stdio_flush(void);
void sleep_ms(uint32_t);
#define XIP_BASE 0x10000000u
#define PICO_FLASH_SIZE_BYTES (2 * 1024 * 1024)
