// No threads: whoever runs a program works alone. In the place of machine/crew.cc.
#include "machine/crew.h"

#include "machine/program.h"

namespace bitreplay {

void Crew::serve() {}
void Crew::dismiss() {}
uint32_t Crew::members() const { return 0; }
uint32_t Crew::take() { return 0; }
void Crew::give_back() {}
void Crew::share(int64_t pieces, Work* work, void* context) {
  for (int64_t piece = 0; piece < pieces; ++piece) work(context, piece);
}

}  // namespace bitreplay

int br_serve(br_program*) { return BR_BAD_ARGUMENT; }
uint32_t br_program_helpers(const br_program*) { return 0; }

#if __SIZEOF_POINTER__ < 8
// Counters of 64 bits are added to by one thread: without threads a plain sum is enough.
extern "C" uint64_t add_alone(volatile void* counter, uint64_t value, int) __asm__("__atomic_fetch_add_8");
uint64_t add_alone(volatile void* counter, uint64_t value, int) {
  volatile uint64_t* const at = static_cast<volatile uint64_t*>(counter);
  const uint64_t before = *at;
  *at = before + value;
  return before;
}
#endif
