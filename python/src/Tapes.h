// Tapes of Python, as the library has them.
#pragma once

#include "Binding.h"

#include <weft/gradient_tape.h>

namespace weft::python {

/// The tape in an object of the class GradientTape. Throws StateError before it was entered.
GradientTape &tape_in(nb::handle object);

} // namespace weft::python
