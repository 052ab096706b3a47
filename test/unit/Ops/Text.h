// Runs programs from their text, as weft-run does.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <weft/tensor.h>

namespace weft::test {

/// Parses a module, compiles its function and calls it. Throws CompileError with the diagnostics of
/// a text that does not parse or compile.
std::vector<Tensor> run_text(const std::string &text, const std::string &function,
                             std::span<const Tensor> inputs);

} // namespace weft::test
