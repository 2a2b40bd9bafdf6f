#include "machine/thread_pool.h"

#include <unistd.h>
#include <ctime>
#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#endif

#include "machine/program.h"

namespace bitreplay {
namespace {

constexpr uint32_t kOpen = 1u << 31, kAwaited = 1u << 30, kCount = kAwaited - 1;
constexpr int kPatience = 2000;  // looks before a thread sleeps: some ten microseconds, about what waking one takes

template <class T>
T load(const T* from) {
  return __atomic_load_n(from, __ATOMIC_SEQ_CST);
}

void look_again() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Sleeps while *word is `value`; may wake for no reason.
void sleep_on(uint32_t* word, uint32_t value) {
#if defined(__linux__)
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
#else
  const timespec moment = {0, 50000};
  if (load(word) == value) nanosleep(&moment, nullptr);
#endif
}

void wake_all(uint32_t* word) {
#if defined(__linux__)
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1 << 30, nullptr, nullptr, 0);
#else
  (void)word;
#endif
}

}  // namespace

void ThreadPool::serve() {
  __atomic_store_n(&process_, uint32_t(getpid()), __ATOMIC_SEQ_CST);
  uint32_t seen = load(&turn_);
  __atomic_fetch_add(&members_, 1, __ATOMIC_SEQ_CST);
  while (!load(&ended_)) {
    for (int looks = 0; load(&turn_) == seen && looks < kPatience; ++looks) look_again();
    if (load(&turn_) == seen) {
      __atomic_fetch_add(&sleepers_, 1, __ATOMIC_SEQ_CST);
      sleep_on(&turn_, seen);
      __atomic_fetch_sub(&sleepers_, 1, __ATOMIC_SEQ_CST);
    }
    seen = load(&turn_);
    if (!enter()) continue;
    take_pieces();
    leave();
  }
  __atomic_fetch_sub(&members_, 1, __ATOMIC_SEQ_CST);
  wake_all(&members_);
}

void ThreadPool::dismiss() {
  if (load(&process_) != uint32_t(getpid())) return;
  __atomic_store_n(&ended_, 1u, __ATOMIC_SEQ_CST);
  __atomic_fetch_add(&turn_, 1, __ATOMIC_SEQ_CST);
  wake_all(&turn_);
  while (const uint32_t left = load(&members_)) sleep_on(&members_, left);
}

uint32_t ThreadPool::members() const { return load(&process_) == uint32_t(getpid()) ? load(&members_) : 0; }

uint32_t ThreadPool::take() {
  const uint32_t count = members();
  return count == 0 || __atomic_exchange_n(&taken_, 1u, __ATOMIC_SEQ_CST) ? 0 : count;
}

void ThreadPool::give_back() { __atomic_store_n(&taken_, 0u, __ATOMIC_SEQ_CST); }

void ThreadPool::share(int64_t pieces, Work* work, void* context) {
  work_ = work;
  context_ = context;
  pieces_ = pieces;
  next_ = 0;
  __atomic_store_n(&inside_, kOpen, __ATOMIC_SEQ_CST);
  __atomic_fetch_add(&turn_, 1, __ATOMIC_SEQ_CST);
  if (load(&sleepers_)) wake_all(&turn_);
  take_pieces();
  uint32_t left = __atomic_and_fetch(&inside_, ~kOpen, __ATOMIC_SEQ_CST);
  for (int looks = 0; left && looks < kPatience; ++looks) {
    look_again();
    left = load(&inside_);
  }
  while (left & kCount) {
    left = __atomic_or_fetch(&inside_, kAwaited, __ATOMIC_SEQ_CST);
    if (left & kCount) sleep_on(&inside_, left);
    left = load(&inside_);
  }
}

bool ThreadPool::enter() {
  uint32_t now = load(&inside_);
  while (now & kOpen)
    if (__atomic_compare_exchange_n(&inside_, &now, now + 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return true;
  return false;
}

void ThreadPool::leave() {
  if (__atomic_sub_fetch(&inside_, 1, __ATOMIC_SEQ_CST) == kAwaited) wake_all(&inside_);
}

void ThreadPool::take_pieces() {
  for (;;) {
    const int64_t piece = __atomic_fetch_add(&next_, 1, __ATOMIC_RELAXED);
    if (piece >= pieces_) return;
    work_(context_, piece);
  }
}

}  // namespace bitreplay

int br_worker_run(br_program* program) {
  if (!program) return BR_BAD_ARGUMENT;
  program->pool.serve();
  return BR_OK;
}

uint32_t br_program_workers(const br_program* program) { return program ? program->pool.members() : 0; }
