// Runs programs from their text, as weft-run does.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <weft/tensor.h>

namespace weft::test {

/// Records what `body` does with such inputs, reads the program from its text, which must give the
/// very ops that were recorded, compiles that with the IR verified after each pass, and calls it.
/// Throws CompileError with the diagnostics of a text that does not parse or compile.
std::vector<Tensor>
run_as_text(const std::string &function,
            const std::function<std::vector<Tensor>(const std::vector<Tensor> &)> &body,
            const std::vector<Tensor> &inputs);

} // namespace weft::test
