#ifndef BITREPLAY_BOARD_H
#define BITREPLAY_BOARD_H
#include <stdint.h>

void board_say(const char* text);
void board_end(int code);
void board_reset(void);
uint64_t board_ticks(void); /* of SysTick; on RISC-V instructions */

#endif
