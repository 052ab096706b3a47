// Suspends the recording of derivatives on a thread.
#pragma once

#include <vector>

#include "Ops/Interpreter.h"

namespace weft::autodiff {

/// While it lives, no tape or pushforward of this thread that was there before it records.
class NoRecord {
public:
  NoRecord() {
    for (Interpreter *i = Interpreter::current(); i != nullptr; i = i->previous()) {
      i->pause();
      paused_.push_back(i);
    }
  }
  ~NoRecord() {
    for (Interpreter *i : paused_) i->resume();
  }
  NoRecord(const NoRecord &) = delete;
  NoRecord &operator=(const NoRecord &) = delete;

private:
  std::vector<Interpreter *> paused_;
};

} // namespace weft::autodiff
