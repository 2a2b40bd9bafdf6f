/* Vectors, reset, and what a board gives: text to the host and the end (semihosting), a clock (SysTick), a reset. */
#include "board.h"

extern uint32_t data_load[], data_start[], data_end[], bss_start[], bss_end[];
void stack_end(void); /* the first vector is an address, like the others */
extern void (*const init_start[])(void);
extern void (*const init_end[])(void);
int main(void);
void reset(void);
void tick(void);
void fault(void);

#define SYSTICK ((volatile uint32_t*)0xE000E010)
#define AIRCR (*(volatile uint32_t*)0xE000ED0C)
#define CCR (*(volatile uint32_t*)0xE000ED14)

static volatile uint32_t wraps;

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    stack_end, reset, fault, fault, fault, fault, fault, 0, 0, 0, 0, fault, fault, 0, fault, tick};

static uint32_t host(uint32_t call, const void* argument) {
  register uint32_t r0 __asm__("r0") = call;
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

void reset(void) {
#ifdef BITREPLAY_BOARD_m0plus
  CCR |= 8; /* UNALIGN_TRP: what is not aligned is a fault, as a Cortex-M0+ has it */
#endif
  uint32_t* from = data_load;
  for (uint32_t* to = data_start; to < data_end;) *to++ = *from++;
  for (uint32_t* to = bss_start; to < bss_end;) *to++ = 0;
  for (void (*const* each)(void) = init_start; each < init_end; ++each) (*each)();
  SYSTICK[1] = 0xFFFFFF;
  SYSTICK[2] = 0;
  SYSTICK[0] = 7;
  board_end(main());
}

void tick(void) { ++wraps; }

void fault(void) {
  board_say("fault\n");
  board_end(3);
}

void board_say(const char* text) { host(0x04, text); }

void board_end(int code) {
  const uint32_t arguments[2] = {0x20026, (uint32_t)code};
  host(0x20, arguments);
  for (;;) {}
}

void board_reset(void) {
  AIRCR = 0x05FA0004;
  for (;;) {}
}

uint64_t board_ticks(void) {
  for (;;) {
    const uint32_t before = wraps, count = SYSTICK[2];
    if (before == wraps) return ((uint64_t)before << 24) + (0xFFFFFF - count);
  }
}
