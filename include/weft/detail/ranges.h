// Ranges of integers that doubles do not hold, for bindings of other languages.
#pragma once

#include <weft/tensor.h>

namespace weft::detail {

/// As `arange` of doubles, of integers of any size.
Tensor arange_of_integers(std::int64_t start, std::int64_t stop, std::int64_t step, DType dtype);

} // namespace weft::detail
