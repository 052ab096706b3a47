// What object code finds outside of itself: the functions of the library and of the C library.
#pragma once

namespace weft::cache {

/// The address of a function of libweft or of what it is linked with; null if there is none. In
/// programs without libweft it is that of a table.
void *find_outside(const char *name);

} // namespace weft::cache
