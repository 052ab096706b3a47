// Interrupts of compiled loops: the flag that they look at, and who is called then.
#include <weft/detail/interrupts.h>

#include <atomic>

#include "Runtime/CallContext.h"

namespace {

std::atomic<void (*)()> handler_of_interrupts = nullptr;

} // namespace

// Compiled code reads it as a byte that changes behind its back.
static_assert(sizeof(weft_rt_interrupt_flag) == 1);
std::atomic<std::uint8_t> weft_rt_interrupt_flag = 0;

namespace weft::detail {

void set_interrupt_handler(void (*handler)()) { handler_of_interrupts = handler; }
void request_interrupt() noexcept { weft_rt_interrupt_flag.store(1, std::memory_order_relaxed); }
bool interrupts_are_handled() noexcept { return handler_of_interrupts.load() != nullptr; }

/// Takes the interrupt.
void handle_interrupt() {
  if (weft_rt_interrupt_flag.exchange(0) == 0) return; // another thread took it
  if (void (*handler)() = handler_of_interrupts.load()) handler();
}

} // namespace weft::detail
