// Values of enumerations that users hand over: a cast makes others than those that there are.
#pragma once

#include <string>
#include <string_view>

#include <weft/dtype.h>

namespace weft {

constexpr bool is_dtype(DType dtype) { return static_cast<int>(dtype) < kNumDTypes; }

/// What is wrong with a value that is no dtype: "the value 77 is no dtype; there are bool, ...".
std::string no_dtype(DType dtype);

/// Throws DTypeError, naming the function, for a value that is no dtype.
void check_dtype(std::string_view function, DType dtype);

} // namespace weft
