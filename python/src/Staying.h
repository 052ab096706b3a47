// Threads that Python would end while it ends itself: they wait for ever instead.
#pragma once

#include <nanobind/nanobind.h>

namespace weft::python {

/// Whether this thread is one that stays.
inline constinit thread_local bool thread_stays = false;
void let_thread_stay();

/// To be called by each thread before its first code of Python below a frame of C++. While Python
/// ends, up to its version 3.13, it ends each other thread that asks for its lock by pthread_exit,
/// which unwinds the thread's frames without the lock: those of C++ drop references of Python,
/// swallow what is no exception of theirs, or let nothing through, and each of these takes the
/// process down. A thread that was here waits for the end of the process there, as from 3.14 on in
/// Python itself.
inline void stay_when_python_ends() {
  if (!thread_stays) [[unlikely]]
    let_thread_stay();
}

/// The lock of Python, taken by a thread that may be one of C++.
class Locked {
public:
  Locked() {
    stay_when_python_ends();
    state_ = PyGILState_Ensure();
  }
  ~Locked() { PyGILState_Release(state_); }
  Locked(const Locked &) = delete;
  Locked &operator=(const Locked &) = delete;

private:
  PyGILState_STATE state_;
};

} // namespace weft::python
