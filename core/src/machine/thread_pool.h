// Threads that share the work of a run. They are the caller's: each waits in br_worker_run until there is something to
// do.
//
// Work is cut into numbered pieces that write to different places; whoever is free takes the next one. So a thread that
// comes late, or never, costs time and changes nothing, and no thread is created or memory taken while a program runs.
// After a fork the child has no other threads, and works alone.
#pragma once
#include <cstdint>

namespace bitreplay {

// All zeros: nobody waits.
class ThreadPool {
 public:
  using Work = void(void* context, int64_t piece);

  // What a thread does until `dismiss`.
  void serve();
  // Sends all threads home, and waits until they have gone.
  void dismiss();

  // How many wait here.
  uint32_t members() const;

  // How many help the caller: 0 while another run has them. Who takes them gives them back.
  uint32_t take();
  void give_back();
  // work(context, 0 .. pieces - 1), each once, on the caller's thread and those that it has taken.
  void share(int64_t pieces, Work* work, void* context);

 private:
  bool enter();
  void leave();
  void take_pieces();

  Work* work_;
  void* context_;
  int64_t pieces_, next_;
  uint32_t members_, process_, taken_, ended_;
  uint32_t turn_, sleepers_;  // how often there was work; threads asleep until there is
  uint32_t inside_;           // threads at work, with the flags of thread_pool.cc
};

}  // namespace bitreplay
