// The version of what compiled code and the library know of each other.
#pragma once

namespace weft {

/// Raise it when a function that compiled code calls (weft_rt_*) changes its name, its parameters
/// or its meaning, and when CallContext or what an entry is handed does: archives of
/// `export_program` outlive the build that wrote them, and are compiled anew where this differs.
/// test/unit/Export/AbiTest.cpp notices changes of the declarations.
inline constexpr int kRuntimeAbi = 1;

} // namespace weft
