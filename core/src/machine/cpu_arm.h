// Which of the library's instruction sets a 64-bit ARM CPU has besides NEON, as the system says: user programs may not
// read the registers that tell. Where the system is another, none.
#pragma once
#if defined(__aarch64__)

#if defined(__linux__)
#include <sys/auxv.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace bitreplay {

// sdot and udot, ARMv8.2's FEAT_DotProd.
inline bool cpu_has_dotprod() {
#if defined(__linux__)
  constexpr unsigned long kHwcapAsimddp = 1ul << 20;
  return getauxval(AT_HWCAP) & kHwcapAsimddp;
#elif defined(__APPLE__)
  int has = 0;
  size_t size = sizeof has;
  return !sysctlbyname("hw.optional.arm.FEAT_DotProd", &has, &size, nullptr, 0) && has;
#else
  return false;
#endif
}

}  // namespace bitreplay
#endif
