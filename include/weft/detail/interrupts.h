// Interrupts: how the program around the library, such as Python, gets a word while compiled loops
// or the compiler run.
#pragma once

namespace weft::detail {

/// Has the loops of functions that are compiled from now on look before each iteration whether an
/// interrupt is requested, and call the handler then, on their own thread. It may throw: the call
/// is over with that, and variables have the values that they had before the iteration. Null for
/// none.
void set_interrupt_handler(void (*handler)());

/// Requests an interrupt: the next loop that looks, on any thread, takes it. For signal handlers
/// too.
void request_interrupt() noexcept;

/// Whether functions are to be compiled so.
bool interrupts_are_handled() noexcept;

} // namespace weft::detail
