// Writing a file so that it appears as a whole or not at all.
#pragma once

#include <cstddef>
#include <string>

namespace weft {

/// A file under a temporary name beside its own; `commit` makes it durable and gives it its name. A
/// file that is not committed vanishes. All members throw IOError, naming the file.
class AtomicFile {
public:
  /// `mode` is what the process's umask takes from.
  explicit AtomicFile(std::string path, unsigned mode = 0666);
  ~AtomicFile();
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;

  void write(const void *bytes, std::size_t size);
  void commit();

private:
  [[noreturn]] void fail(const char *what) const;

  std::string path_, temporary_;
  int descriptor_ = -1;
};

} // namespace weft
