// Names of sizes in the shapes of signatures: each is a number there, the same for the same name.
#pragma once

#include <cstdint>
#include <string>

namespace weft {

/// Names are at or below it; see detail::is_named.
inline constexpr std::int64_t kLastSizeName = -1000;

std::int64_t size_of_name(const std::string &name);
/// Whether that number was given to a name: others are numbers of users, and wrong.
bool is_name_of_size(std::int64_t size);
const std::string &name_of_size(std::int64_t size);

} // namespace weft
