/* Start, reset, and what the board gives: text to the host and the end (semihosting), a count of instructions, a
 * reset. */
#include "board.h"

extern uint32_t data_load[], data_start[], data_end[], bss_start[], bss_end[];
extern void (*const init_start[])(void);
extern void (*const init_end[])(void);
int main(void);
void reset(void);
void fault(void);

#define TEST_DEVICE (*(volatile uint32_t*)0x100000)

__attribute__((naked, section(".vectors"), used)) void start(void) {
  __asm__ volatile("la sp, stack_end\n la t0, fault\n csrw mtvec, t0\n j reset");
}

/* The three instructions are known together, and must not be compressed. */
__attribute__((noinline)) static uint32_t host(uint32_t call, const void* argument) {
  register uint32_t a0 __asm__("a0") = call;
  register const void* a1 __asm__("a1") = argument;
  __asm__ volatile(
      ".option push\n .option norvc\n .balign 16\n slli x0, x0, 0x1f\n ebreak\n srai x0, x0, 7\n .option pop"
      : "+r"(a0)
      : "r"(a1)
      : "memory");
  return a0;
}

void reset(void) {
  uint32_t* from = data_load;
  for (uint32_t* to = data_start; to < data_end;) *to++ = *from++;
  for (uint32_t* to = bss_start; to < bss_end;) *to++ = 0;
  for (void (*const* each)(void) = init_start; each < init_end; ++each) (*each)();
  board_end(main());
}

__attribute__((aligned(4))) void fault(void) {
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
  TEST_DEVICE = 0x7777;
  for (;;) {}
}

uint64_t board_ticks(void) {
  for (;;) {
    uint32_t before, low, after;
    __asm__ volatile("csrr %0, minstreth\n csrr %1, minstret\n csrr %2, minstreth"
                     : "=r"(before), "=r"(low), "=r"(after));
    if (before == after) return (uint64_t)before << 32 | low;
  }
}
