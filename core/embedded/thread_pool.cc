// No threads: whoever runs a program works alone. In the place of machine/thread_pool.cc.
#include "machine/thread_pool.h"

#include "machine/program.h"

namespace bitreplay {

void ThreadPool::serve() {}
void ThreadPool::dismiss() {}
uint32_t ThreadPool::members() const { return 0; }
uint32_t ThreadPool::take() { return 0; }
void ThreadPool::give_back() {}
void ThreadPool::share(int64_t pieces, Work* work, void* context) {
  for (int64_t piece = 0; piece < pieces; ++piece) work(context, piece);
}

}  // namespace bitreplay

int br_worker_run(br_program*) { return BR_BAD_ARGUMENT; }
uint32_t br_program_workers(const br_program*) { return 0; }

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
