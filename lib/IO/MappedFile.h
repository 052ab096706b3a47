// A file as memory that is read when it is looked at, and that processes share.
#pragma once

#include <string>
#include <string_view>

#include "IO/InputFile.h"

namespace weft {

/// The bytes of a regular file, for reading. Who makes the file shorter while this lives ends the
/// process; one that replaces it does no harm.
class MappedFile {
public:
  /// Throws IOError as InputFile does, and if there is no memory.
  explicit MappedFile(const std::string &path);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  const std::string &path() const { return file_.path(); }
  std::string_view bytes() const { return {memory_, static_cast<std::size_t>(file_.size())}; }
  [[noreturn]] void fail(const std::string &what) const { file_.fail(what); }

private:
  const InputFile file_;
  const char *memory_ = nullptr;
};

} // namespace weft
