// Interrupts of compiled calls by signals of Python.
#pragma once

#include "Binding.h"

namespace weft::python {

/// Has handlers of signals called from compiled loops from now on.
void define_interrupts(nb::module_ &module);

/// While one lives in the main thread, loops of compiled code, and the compiler between its passes,
/// look for signals some 20 times a second. The lock of Python is not held meanwhile.
class Interruptible {
public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible &) = delete;
  Interruptible &operator=(const Interruptible &) = delete;

private:
  bool counts_;
};

} // namespace weft::python
