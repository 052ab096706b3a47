// Refuses paths that the system would not take as they are.
#include "Support/Path.h"

#include <string>

#include <weft/error.h>

namespace weft {

void check_path(std::string_view function, std::string_view path) {
  if (path.empty()) throw ValueError(std::string(function) + ": the path is empty");
  if (const std::size_t at = path.find('\0'); at != path.npos)
    throw ValueError(std::string(function) + ": the path has a NUL behind '" +
                     std::string(path.substr(0, at)) + "', which no file name may have");
}

} // namespace weft
