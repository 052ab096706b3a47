// The processors that code is exported for.
#pragma once

#include <string>
#include <string_view>

namespace weft::archive {

/// The instruction sets of a level of x86-64, "x86-64-v3", as CpuFeatures.h has them; this
/// machine's if the name is empty. Nothing for another name.
std::string features_of(std::string_view processor);

/// Throws ValueError, which names `function`, for a name that is no level.
void check_processor(std::string_view function, std::string_view processor);

} // namespace weft::archive
