// Threads of the library's own, which no signal of the program comes to.
#pragma once

#include <csignal>
#include <functional>
#include <thread>

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

} // namespace weft
