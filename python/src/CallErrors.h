// What a wrong call of a function that nanobind binds says.
#pragma once

#include "Binding.h"

namespace weft::python {

/// Has all functions, methods, setters and classes of the module that nanobind binds word a wrong
/// call as others do: one sentence that names the function as users write it, the argument, what
/// was given and what is wanted, instead of nanobind's list of overloads. To be called when all are
/// defined. A right call costs a jump more.
void word_call_errors(nb::module_ &module);

} // namespace weft::python
