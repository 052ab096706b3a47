// The words for an operand of a dtype that its record does not admit.
#pragma once

#include "OpDefs/OpInfo.h"

namespace weft {

/// "x must be floating (f32, f64), but it is i32(2,)".
std::string wrong_dtype(std::string_view name, const DTypeSet &admits, const TensorType &type);

} // namespace weft
