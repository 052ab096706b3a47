// Threads that work side by side: each runs its loops alone.
#pragma once

namespace weft::threads {

/// While one lives, the parallel loops of this thread run on it alone: for threads that share the
/// CPUs with others of their kind, where a team for each would only be in the way.
class SerialLoops {
public:
  SerialLoops() noexcept;
  ~SerialLoops();
  SerialLoops(const SerialLoops &) = delete;
  SerialLoops &operator=(const SerialLoops &) = delete;
};

} // namespace weft::threads
