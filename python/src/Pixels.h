// `wf.data.pixels`, for the module.
#pragma once

namespace weft::python {

void define_pixels();

} // namespace weft::python
