// What a derivative is told that comes to a host call.
#pragma once

#include <string>
#include <string_view>

namespace weft::autodiff {

/// `call` is the call, as messages name it.
inline std::string no_derivative_of(std::string_view call) {
  return std::string(call) +
         ": a derivative is asked for through it, and none is known of what it computes: wrap it "
         "in a custom_gradient that gives one, or hand over stop_gradient of its operand if the "
         "derivative is to be zero; a gradient function that uses the result, as that of a solve, "
         "calls the custom_gradient again for derivatives of itself";
}

} // namespace weft::autodiff
