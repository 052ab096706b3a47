// Names of sizes in the shapes of signatures: each is a number there, the same for the same name.
#pragma once

#include <cstdint>
#include <string>

namespace weft {

std::int64_t size_of_name(const std::string &name);
/// As detail::is_named.
bool is_name_of_size(std::int64_t size);
const std::string &name_of_size(std::int64_t size);

} // namespace weft
