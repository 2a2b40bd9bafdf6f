/* Of ESP-IDF. */
#pragma once
#include <stddef.h>
#include <stdint.h>
typedef enum { UART_NUM_0 } uart_port_t;
int uart_driver_install(uart_port_t, int, int, int, void*, int);
int uart_read_bytes(uart_port_t, void*, uint32_t, uint32_t);
int uart_write_bytes(uart_port_t, const void*, size_t);
