// What users of Python call the functions and classes of the package, for messages.
#pragma once

#include "Binding.h"

#include <string>
#include <string_view>

namespace weft::python {

/// "weft.GradientTape" for a class or function of the package, as users write it; empty for those
/// inside.
std::string public_name(nb::handle object);

/// The public name of the first class of the package among an object's class and its bases; empty
/// where none is public.
std::string public_class_name(PyTypeObject *type);

/// The function of the package in Python that users called, for those that only it calls:
/// "weft.data.read_csv". Empty if the user's code calls.
std::string public_caller();

/// What users call a function of the package in Python, which need not be public itself.
std::string public_function_name(nb::handle function);

/// "read_csv" of "weft.data.read_csv".
std::string last_word(const std::string &name);

} // namespace weft::python
