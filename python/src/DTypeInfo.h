// Limits, kinds and promotion of dtypes as functions of Python.
#pragma once

#include "Binding.h"

namespace weft::python {

void define_dtype_info(nb::module_ &module);

} // namespace weft::python
