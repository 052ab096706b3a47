// Bodies: the parts of control flow as functions on tensors alone.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include <weft/tensor.h>

namespace weft::detail {

/// A branch, or the condition or body of a loop. It may be run any number of times.
using Body = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

} // namespace weft::detail
