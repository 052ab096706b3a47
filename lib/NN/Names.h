// Names of layers and optimizers that were given none.
#pragma once

#include <string>

namespace weft {

/// `kind` the first time, then "kind_1", "kind_2": unlike those of all others of the process.
std::string own_name_of(const std::string &kind);

} // namespace weft
