// What is asked of a text of PTX without a driver.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// The names of the kernels of a text, those behind `.entry`, in its order. Launches know kernels
/// by their places among them.
std::vector<std::string> ptx_kernels(std::string_view ptx);

/// The chip that a text is for, behind `.target`: "sm_90a". Empty if it does not say.
std::string ptx_target(std::string_view ptx);

} // namespace weft
