// Further names of functions: each is a function of its own, by whose name its errors go.
#pragma once

#include "Binding.h"

namespace weft::python {

/// Has the module call its function `name`, or one of a family ("linalg.vecdot"), by another name
/// too; both must live for ever.
void add_alias(nb::module_ &module, const char *alias, const char *name);

/// A message as the user of the function reads it that this thread is called by another name:
/// "flip: axis 3 ..." for "reverse: axis 3 ..".
std::string as_called(std::string_view message);

} // namespace weft::python
