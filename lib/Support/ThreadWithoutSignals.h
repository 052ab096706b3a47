// Threads of the library's own, which no signal of the program comes to.
#pragma once

#include <csignal>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

#include "Support/Fork.h"

namespace weft {

/// Starts a thread that no signal of the program comes to. Throws std::system_error.
inline std::thread thread_without_signals(const std::function<void()> &run) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  try {
    std::thread thread(run);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
}

/// Waits for the end of a thread that was started in this generation of forks. In a child of a
/// later fork, where it is gone, nobody can wait for it or end it: it is left, and the result is
/// false.
inline bool join_unless_gone(std::thread &thread, std::uint32_t generation) {
  if (generation == forks::generation()) {
    thread.join();
    return true;
  }
  static_cast<void>(new std::thread(std::move(thread)));
  return false;
}

} // namespace weft
