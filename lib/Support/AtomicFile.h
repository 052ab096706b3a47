// Writing a file so that it appears as a whole or not at all.
#pragma once

#include <cstddef>
#include <string>

namespace weft {

/// A file under a temporary name beside its own; `commit` makes it durable and gives it its name. A
/// file that is not committed vanishes. What is there already keeps its mode and, where the process
/// may do that, its owner; a symbolic link stays one, and what it leads to is written; a file that
/// nobody or not this user may write is refused. A device or a pipe is written to. All members
/// throw IOError, naming the file, also where the system would end the process: beyond its limit on
/// the size of files, or into a pipe that nobody reads.
class AtomicFile {
public:
  /// `mode` is what the process's umask takes from, for a file that is not there yet.
  explicit AtomicFile(std::string path, unsigned mode = 0666);
  ~AtomicFile();
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;

  void write(const void *bytes, std::size_t size);
  void commit();

private:
  [[noreturn]] void fail(const char *what) const;

  std::string path_;   ///< as it was given
  std::string target_; ///< where links lead
  std::string temporary_;
  int descriptor_ = -1;
};

} // namespace weft
