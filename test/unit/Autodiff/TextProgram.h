// Text programs as callables: through all phases to machine code.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <weft/tensor.h>

namespace weft::test {

/// The functions of a text program, each compiled when it is first called.
class TextProgram {
public:
  explicit TextProgram(std::string text) : text_(std::move(text)) {}

  /// Calls a public function. Throws CompileError, with the diagnostics, if it does not compile.
  std::vector<Tensor> call(const std::string &function, const std::vector<Tensor> &arguments);

  const std::string &text() const { return text_; }

private:
  struct Compiled;

  std::string text_;
  std::vector<std::pair<std::string, std::shared_ptr<Compiled>>> compiled_;
};

} // namespace weft::test
