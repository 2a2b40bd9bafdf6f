/* A library that asks `cpuid` what the CPU has is answered as on a CPU that ends at AVX2.
 *
 * In a copy of that library its `cpuid` instructions have been replaced by 0F 04, two bytes that are no instruction on
 * any x86 and so raise SIGILL (held_to_avx2.py). The handler executes cpuid, leaves out what came after AVX2, and goes
 * on behind the two bytes. Any other illegal instruction ends the process as ever. */

#define _GNU_SOURCE
#include <cpuid.h>
#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

static const uint8_t IN_PLACE_OF_CPUID[2] = {0x0f, 0x04};

/* Bits of leaf 7, subleaf 0: AVX-512 and its extensions in all three registers, in edx AMX too. Of subleaf 1, which
 * has AVX-VNNI, AVX-IFMA and what followed, nothing is left; nor of leaves 0x1d and 0x1e (AMX) and 0x24 (AVX10). */
enum {
  EBX_AVX512 = 1u << 16 | 1u << 17 | 1u << 21 | 1u << 26 | 1u << 27 | 1u << 28 | 1u << 30 | 1u << 31,
  ECX_AVX512 = 1u << 1 | 1u << 6 | 1u << 11 | 1u << 12 | 1u << 14,
  EDX_AVX512_AMX = 1u << 2 | 1u << 3 | 1u << 8 | 1u << 22 | 1u << 23 | 1u << 24 | 1u << 25,
};

static void answer(int signal_number, siginfo_t* info, void* context) {
  (void)info;
  greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  const uint8_t* at = (const uint8_t*)registers[REG_RIP];
  if (at[0] != IN_PLACE_OF_CPUID[0] || at[1] != IN_PLACE_OF_CPUID[1]) {
    signal(signal_number, SIG_DFL);
    return;
  }
  const uint32_t leaf = (uint32_t)registers[REG_RAX], subleaf = (uint32_t)registers[REG_RCX];
  uint32_t eax, ebx, ecx, edx;
  __cpuid_count(leaf, subleaf, eax, ebx, ecx, edx);
  if (leaf == 7 && subleaf == 0) {
    ebx &= ~(uint32_t)EBX_AVX512;
    ecx &= ~(uint32_t)ECX_AVX512;
    edx &= ~(uint32_t)EDX_AVX512_AMX;
  } else if (leaf == 7 || leaf == 0x1d || leaf == 0x1e || leaf == 0x24) {
    eax = ebx = ecx = edx = 0;
  }
  registers[REG_RAX] = eax;
  registers[REG_RBX] = ebx;
  registers[REG_RCX] = ecx;
  registers[REG_RDX] = edx;
  registers[REG_RIP] += sizeof(IN_PLACE_OF_CPUID);
}

/* Answer from now on; 0, or -1 where the handler cannot be set. */
int hold(void) {
  struct sigaction action = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO};
  return sigaction(SIGILL, &action, 0);
}
