// The one intra-op thread pool of the process: a parallel loop over contiguous ranges.
//
// A loop is cut into a few chunks for each thread, by its length alone, and a thread claims one
// after the other: first its own share, which may still be in its cache, then what others have not
// begun. So the caller never waits for a worker that the system does not run, unless in the middle
// of a chunk, and two threads on a busy machine are no slower than one. Workers spin for some
// milliseconds after a region, so that one that follows soon costs less than a microsecond; after
// a longer pause, and at once where others want their processor, they sleep and the next region
// pays for waking them. They block all signals. A child of fork gets workers of its own. Where the
// system starts no more threads, loops run on those there are.
#pragma once

#include <cstdint>
#include <string_view>

#include "Support/FunctionRef.h"
#include <weft/threads.h>

namespace weft::threads {

/// Reads a thread count as WEFT_NUM_THREADS spells it. Throws ValueError when `text` is not a whole
/// number from 1 to 1024.
int parse_num_threads(std::string_view text);

/// The number of threads a parallel loop may use. It starts as WEFT_NUM_THREADS, or else as the
/// number of CPUs this process may run on. Throws what `parse_num_threads` throws.
int max_threads();

/// The same where nothing may be thrown: a WEFT_NUM_THREADS that is not valid counts as not set.
int max_threads_or_default() noexcept;

/// Sets what `max_threads` returns from now on.
using weft::set_num_threads;

/// True inside the body of a parallel loop that runs on more than one thread.
bool in_parallel_region() noexcept;

/// The number of this worker of the pool, from 1 on; 0 of every other thread.
int worker_number() noexcept;

/// Calls `body` on contiguous ranges that cover [begin, end) once, on at most `max_threads`
/// threads, and returns when all are done. No range is shorter than `grain` unless the whole loop
/// is; a loop of at most `grain` iterations, a loop inside another parallel loop, and any loop when
/// `max_threads` is 1 run as one call on the caller's thread and never touch the pool. Whoever
/// needs results that do not depend on the thread count must not let them depend on the ranges.
/// The first exception thrown by a body is rethrown on the caller once every range has ended.
void parallel_for(int64_t begin, int64_t end, int64_t grain,
                  FunctionRef<void(int64_t begin, int64_t end)> body);

/// The same loop for bodies that do not throw, which then does not throw either.
void parallel_for_noexcept(int64_t begin, int64_t end, int64_t grain,
                           FunctionRef<void(int64_t begin, int64_t end)> body) noexcept;

} // namespace weft::threads

/// The same loop for compiled code. `body` must not throw.
extern "C" void weft_rt_parallel_for(int64_t begin, int64_t end, int64_t grain,
                                     void (*body)(void *closure, int64_t begin, int64_t end),
                                     void *closure);

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
