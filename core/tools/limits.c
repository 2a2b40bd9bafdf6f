/* What one core of an x86-64 CPU does at most: loops of single vector instructions on twelve registers, the best of
 * many.
 *
 *     cc -O2 limits.c -o limits && taskset -c 1 ./limits avx2      or avx512: instructions of 512 bits besides
 *
 * Prints a name and 10^9 instructions a second in a line. benchmarks/limits.py compiles and reads it. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define ROUNDS 4000
#define TIMES 60
#define TWELVE(I) I(0) I(1) I(2) I(3) I(4) I(5) I(6) I(7) I(8) I(9) I(10) I(11)
#define USED "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "memory"
#define BODY(name, I)                                                                \
  static void name(void* at) {                                                       \
    for (int k = 0; k < ROUNDS; ++k) __asm__ volatile(TWELVE(I) : : "r"(at) : USED); \
  }

#define ADD(n) "vpaddb %%ymm" #n ", %%ymm" #n ", %%ymm" #n "\n"
#define SHUFFLE(n) "vpshufb %%ymm" #n ", %%ymm" #n ", %%ymm" #n "\n"
#define PAIRS(n) "vpmaddwd %%ymm" #n ", %%ymm" #n ", %%ymm" #n "\n"
#define PRODUCTS(n) "vpmuldq %%ymm" #n ", %%ymm" #n ", %%ymm" #n "\n"
#define LOAD(n) "vmovdqu 32*" #n "(%0), %%ymm" #n "\n"
#define STORE(n) "vmovdqu %%ymm" #n ", 32*" #n "(%0)\n"
#define ADD512(n) "vpaddq %%zmm" #n ", %%zmm" #n ", %%zmm" #n "\n"
#define COUNT512(n) "vpopcntq %%zmm" #n ", %%zmm" #n "\n"
#define PERMUTE512(n) "vpermi2b %%zmm" #n ", %%zmm" #n ", %%zmm" #n "\n"
#define DOT512(n) "vpdpwssd %%zmm" #n ", %%zmm" #n ", %%zmm" #n "\n"
#define PRODUCTS512(n) "vpmuldq %%zmm" #n ", %%zmm" #n ", %%zmm" #n "\n"
#define LOAD512(n) "vmovdqu64 64*" #n "(%0), %%zmm" #n "\n"
#define STORE512(n) "vmovdqu64 %%zmm" #n ", 64*" #n "(%0)\n"

BODY(add, ADD)
BODY(shuffle, SHUFFLE)
BODY(pairs, PAIRS)
BODY(products, PRODUCTS)
BODY(load, LOAD)
BODY(store, STORE)
BODY(add512, ADD512)
BODY(count512, COUNT512)
BODY(permute512, PERMUTE512)
BODY(dot512, DOT512)
BODY(products512, PRODUCTS512)
BODY(load512, LOAD512)
BODY(store512, STORE512)

static struct {
  const char* name;
  void (*run)(void*);
  int wide;
} loops[] = {
    {"vpaddb 256", add, 0},       {"vpshufb 256", shuffle, 0},     {"vpmaddwd 256", pairs, 0},
    {"vpmuldq 256", products, 0}, {"load 256", load, 0},           {"store 256", store, 0},
    {"vpaddq 512", add512, 1},    {"vpopcntq 512", count512, 1},   {"vpermi2b 512", permute512, 1},
    {"vpdpwssd 512", dot512, 1},  {"vpmuldq 512", products512, 1}, {"load 512", load512, 1},
    {"store 512", store512, 1},
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int count, char** words) {
  static _Alignas(64) uint8_t memory[12 * 64];
  const int wide = count > 1 && !strcmp(words[1], "avx512");
  for (unsigned k = 0; k < sizeof loops / sizeof *loops; ++k) {
    if (loops[k].wide && !wide) continue;
    double best = 1e9;
    for (int time = 0; time < TIMES; ++time) {
      const double start = now();
      loops[k].run(memory);
      const double taken = now() - start;
      if (taken < best) best = taken;
    }
    printf("%s %.2f\n", loops[k].name, 12e-9 * ROUNDS / best);
  }
  return 0;
}
