// The instruction sets of the host that compiled code may use, by LLVM's names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// The instruction sets that this CPU has and the operating system supports, in a fixed order. They
/// say on which other machines code for this one runs; the CPU's name, which only tunes, does not.
const std::vector<std::string> &host_cpu_features();

/// Those features in one text: "avx,avx2,...".
const std::string &host_cpu_features_text();

/// The first of the comma-separated features that this CPU lacks; empty if it has all.
std::string missing_cpu_feature(std::string_view features);

} // namespace weft
