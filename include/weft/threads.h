// The number of threads that one call of Weft uses.
#pragma once

namespace weft {

/// The number of threads that ops, compiled functions and data sets may use at once. It starts as
/// the environment's WEFT_NUM_THREADS, or else as the number of processors that this process may
/// run on. Throws ValueError if WEFT_NUM_THREADS is no whole number from 1 to 1024.
int num_threads();

/// Sets that number for the whole process, from the next call on. Results do not depend on it.
/// Throws ValueError unless it is from 1 to 1024. More threads than processors are slower.
void set_num_threads(int count);

} // namespace weft
