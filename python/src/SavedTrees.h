// `wf.save` and `wf.load`, for the module.
#pragma once

#include "Binding.h"

namespace weft::python {

void define_saved_trees(nb::module_ &module);

} // namespace weft::python
