// The one intra-op thread pool of the process: a parallel loop over contiguous ranges.
//
// The pool is libgomp's, reached through its public ABI, because libraries such as oneDNN compute
// on the same one: two pools would spin against each other. Its workers spin for a while after a
// region, so a region that follows soon costs less than a microsecond; after a longer pause they
// sleep and the next region pays for waking them. On a machine that is busy with something else a
// region takes milliseconds, for it ends when its last thread has had its iteration: run with
// WEFT_NUM_THREADS=1 there. The environment variables OMP_WAIT_POLICY and GOMP_SPINCOUNT, which
// libgomp reads when it is loaded, are left to the user. The child of a process that forked after
// a region has no workers, and libgomp cannot start others: its loops run on their caller alone.
// Where the system makes no more threads, loops run on those there are.
#pragma once

#include "Support/FunctionRef.h"

#include <cstdint>
#include <string_view>

namespace weft::threads {

/// Reads a thread count as WEFT_NUM_THREADS spells it. Throws ValueError when `text` is not a whole
/// number from 1 to 1024.
int parse_num_threads(std::string_view text);

/// The number of threads a parallel loop may use. It starts as WEFT_NUM_THREADS, or else as the
/// number of CPUs this process may run on. Throws what `parse_num_threads` throws.
int max_threads();

/// The same where nothing may be thrown: a WEFT_NUM_THREADS that is not valid counts as not set.
int max_threads_or_default() noexcept;

/// Sets what `max_threads` returns from now on, for every thread of the process. Throws ValueError
/// when `count` is not from 1 to 1024. More threads than CPUs make every loop slower.
void set_num_threads(int count);

/// True inside the body of a parallel loop that runs on more than one thread.
bool in_parallel_region() noexcept;

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
