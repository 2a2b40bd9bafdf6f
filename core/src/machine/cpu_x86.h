// Which of the library's instruction sets an x86-64 CPU has, and whether the system saves their registers.
//
// By the instructions cpuid and xgetbv alone: __builtin_cpu_supports needs a table (__cpu_model) that not every C
// library for musl brings. On macOS xgetbv names the AVX-512 registers only after their first use, so AVX2 is taken
// there.
#pragma once
#if defined(__x86_64__)

#include <cpuid.h>

#include <cstdint>

namespace bitreplay {

struct CpuX86 {
  bool avx2 = false, avxvnni = false, avx512 = false;
};

inline CpuX86 cpu_x86() {
  constexpr uint32_t kPopcnt = 1u << 23, kOsxsave = 1u << 27;                                         // leaf 1, ecx
  constexpr uint32_t kAvx2 = 1u << 5, kF = 1u << 16, kDq = 1u << 17, kBw = 1u << 30, kVl = 1u << 31;  // leaf 7, ebx
  constexpr uint32_t kVbmi = 1u << 1, kVbmi2 = 1u << 6, kVnni = 1u << 11, kBitalg = 1u << 12,
                     kVpopcntdq = 1u << 14;     // leaf 7, ecx
  constexpr uint32_t kAvxVnni = 1u << 4;        // leaf 7, part 1, eax; part 0 has the number of the last part there
  constexpr uint32_t kYmm = 0x06, kZmm = 0xe6;  // xcr0
  constexpr uint32_t k512b = kF | kDq | kBw | kVl, k512c = kVbmi | kVbmi2 | kVnni | kBitalg | kVpopcntdq;

  uint32_t a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || (c & (kPopcnt | kOsxsave)) != (kPopcnt | kOsxsave)) return {};
  uint32_t saved, high;
  __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
  if ((saved & kYmm) != kYmm || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return {};
  CpuX86 cpu;
  cpu.avx2 = b & kAvx2;
  cpu.avx512 = cpu.avx2 && (saved & kZmm) == kZmm && (b & k512b) == k512b && (c & k512c) == k512c;
  if (cpu.avx2 && a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d)) cpu.avxvnni = a & kAvxVnni;
  return cpu;
}

}  // namespace bitreplay
#endif
