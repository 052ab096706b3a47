// Makes a library look like one without std::source_location.
#include <version>
#undef __cpp_lib_source_location
