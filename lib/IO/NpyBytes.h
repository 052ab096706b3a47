// Arrays in the format .npy that lie in memory, as members of archives do.
#pragma once

#include <string>
#include <string_view>

#include <weft/tensor.h>

namespace weft {

/// The array that is all of `bytes`. Throws IOError, which begins with `name`.
Tensor read_npy_bytes(std::string_view bytes, const std::string &name);

} // namespace weft
