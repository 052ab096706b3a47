// Suspends the recording of derivatives on a thread.
#pragma once

#include <vector>

#include "Ops/Interpreter.h"

namespace weft::autodiff {

/// While it lives, no tape or pushforward of this thread that was there before it records.
class Paused {
public:
  Paused() {
    for (Interpreter *i = Interpreter::current(); i != nullptr; i = i->previous()) {
      i->pause();
      paused_.push_back(i);
    }
  }
  ~Paused() {
    for (Interpreter *i : paused_) i->resume();
  }
  Paused(const Paused &) = delete;
  Paused &operator=(const Paused &) = delete;

private:
  std::vector<Interpreter *> paused_;
};

} // namespace weft::autodiff
