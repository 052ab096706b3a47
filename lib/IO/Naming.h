// Errors of reading a file name it, whatever they come from.
#pragma once

#include <new>
#include <string>

#include "Support/CallSite.h"
#include "Support/Fault.h"

namespace weft {

/// Gives what `read()` gives. An error that does not name the file gets its name in front, and
/// memory that cannot be had, of a container too, is OutOfMemory.
template <class Read>
auto naming(const std::string &path, const Read &read) {
  try {
    return read();
  } catch (const Error &error) {
    std::string words(error.message());
    if (words.find(path) != std::string::npos) throw;
    if (const char *const function = CallSite::function();
        function != nullptr && words.starts_with(std::string(function) + ": "))
      words.erase(0, std::string(function).size() + 2);
    raise(error.kind(), path + ": " + words);
  } catch (const std::bad_alloc &) {
    raise(ErrorKind::out_of_memory, path + ": what it holds takes more memory than can be had");
  }
}

} // namespace weft
