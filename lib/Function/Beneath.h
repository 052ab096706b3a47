// A tracer below all interpreters of a thread, for what those would do on values to come.
#pragma once

#include <ranges>
#include <vector>

#include "Ops/Interpreter.h"

namespace weft {

/// Puts an interpreter below all others of this thread for its life.
class Beneath {
public:
  explicit Beneath(Interpreter *bottom) : chain_(present()) {
    push_interpreter(bottom);
    for (Interpreter *at : chain_ | std::views::reverse) push_interpreter(at);
  }
  ~Beneath() {
    if (chain_.empty()) return;
    const Interpreter::Scope alone(nullptr);
    push_interpreter(chain_.back());
  }
  Beneath(const Beneath &) = delete;
  Beneath &operator=(const Beneath &) = delete;

private:
  static std::vector<Interpreter *> present() {
    std::vector<Interpreter *> chain;
    for (Interpreter *at = Interpreter::current(); at != nullptr; at = at->previous())
      chain.push_back(at);
    return chain;
  }

  std::vector<Interpreter *> chain_;  ///< the innermost first
  Interpreter::Scope scope_{nullptr}; ///< begins when the chain is known
};

} // namespace weft
