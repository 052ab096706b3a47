// The system's calls that files are written by, behind a table so that tests can watch and fail
// them.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sys/types.h>

namespace weft {

/// What a file that is to survive a crash is made with. Each member is the call of the same name
/// or what its comment says, and sets errno as the system does.
class FileCalls {
public:
  virtual ~FileCalls() = default;
  virtual int open(const char *path, int flags, mode_t mode);
  virtual ssize_t write(int descriptor, const void *bytes, std::size_t size);
  virtual ssize_t pwrite(int descriptor, const void *bytes, std::size_t size, off_t offset);
  /// Takes room on the disk; where the file system cannot do that, EOPNOTSUPP.
  virtual int allocate(int descriptor, off_t size);
  /// Whether writes pass the page cache by, which asks for whole blocks at whole blocks' places.
  virtual int set_direct(int descriptor, bool direct);
  virtual int fsync(int descriptor);
  virtual int close(int descriptor);
  virtual int rename(const char *from, const char *to);
  /// The same, but EEXIST where something has the name already.
  virtual int rename_to_free(const char *from, const char *to);
  virtual int unlink(const char *path);
  virtual int mkdir(const char *path, mode_t mode);
};

/// Those that this process uses now.
FileCalls &file_calls();

/// Uses others from now on, which must live for as long as they are used; null for the system's.
/// For tests: files that are being written meanwhile see both.
void use_file_calls(FileCalls *calls);

} // namespace weft
