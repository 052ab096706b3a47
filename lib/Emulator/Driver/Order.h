// What comes before what among the operations of streams, and which of them touch the same memory
// without an order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "Emulator/Memory/AddressSpace.h"

namespace weft::emulator {

/// Of each stream, by its number, how many of its operations come before something.
class Clock {
public:
  std::uint64_t of(std::size_t stream) const {
    return stream < counts_.size() ? counts_[stream] : 0;
  }
  void raise(std::size_t stream, std::uint64_t count) {
    if (counts_.size() <= stream) counts_.resize(stream + 1);
    counts_[stream] = std::max(counts_[stream], count);
  }
  void join(const Clock &other) {
    for (std::size_t i = 0; i < other.counts_.size(); ++i) raise(i, other.counts_[i]);
  }

private:
  std::vector<std::uint64_t> counts_;
};

/// Pieces of memory, in ascending order.
class Intervals {
public:
  struct Interval {
    std::uint64_t begin, end;
  };

  void add(std::uint64_t begin, std::uint64_t size);
  /// Sorts and merges, which has to be done before anything is asked.
  void finish();
  bool empty() const { return parts_.empty(); }
  /// The first address that both have; 0 if there is none.
  std::uint64_t common(const Intervals &other) const;
  void append(const Intervals &other) {
    parts_.insert(parts_.end(), other.parts_.begin(), other.parts_.end());
  }

private:
  std::vector<Interval> parts_;
};

/// The memory that an operation reads, writes, and touches by atomics only.
struct Footprint {
  Intervals reads, writes, atomics;

  void finish() {
    reads.finish();
    writes.finish();
    atomics.finish();
  }
  void append(const Footprint &other) {
    reads.append(other.reads);
    writes.append(other.writes);
    atomics.append(other.atomics);
  }
  /// An address that one of the two writes and the other touches; 0 if there is none.
  std::uint64_t conflict(const Footprint &other) const;
};

/// What the launch whose records begin with `first` left in the shadows of all memory.
Footprint footprint_of_launch(const AddressSpace &space, Record first);

/// The operations that were done and that others may still be unordered with.
class History {
public:
  struct Past {
    std::size_t stream;
    std::uint64_t number; ///< among the operations of its stream
    std::string name;
    Footprint footprint;
  };

  /// Adds an operation, after all that comes before it by `clock`. A sentence if it touches the
  /// memory of one that is unordered with it.
  std::string add(Past past, const Clock &clock);
  /// Forgets what comes before all that will ever be done: before what the host asks for later,
  /// and before what is waiting to be done.
  void forget(const std::vector<const Clock *> &all_that_comes);
  void clear() { past_.clear(); }

private:
  /// Enough for any program; a bound for those that never wait for anything.
  static constexpr std::size_t kMost = 4096;
  std::deque<Past> past_;
};

} // namespace weft::emulator
