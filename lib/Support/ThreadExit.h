// What is to be done when a thread ends. Objects of the thread itself must not be destroyed by
// then: destructors that run later, at the end of the process above all, still call the library. So
// what a thread keeps is trivially destructible, and an action given here empties it.
#pragma once

namespace weft {

/// Has `action` run when this thread ends, once however often it is asked for; not where the thread
/// is ending already and has run it.
template <void (*action)() noexcept>
void at_thread_end() {
  struct Guard {
    void arm() const {}
    ~Guard() { action(); }
  };
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wexit-time-destructors"
#endif
  static thread_local const Guard guard;
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
  guard.arm();
}

} // namespace weft
